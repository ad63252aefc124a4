// The pictures of a long list: they are loaded where they are seen, and not while the list rushes past.

import { useEffect, useRef } from "../ui.js";

const FAST = 40; // Pixels between two frames.
const REST = 100; // Milliseconds without scrolling after which the list stands still.
const AHEAD = "200px"; // How far off the screen pictures are loaded.

/** The follower of a list: `ref.current.observe(element)` has the pictures in an element loaded (`data-src`) once it is
    seen. */
export function usePictures() {
  const follower = useRef(null);
  follower.current ??= new Follower();
  useEffect(() => follower.current.follow(), []);
  return follower;
}

class Follower {
  #seen = new Set();
  #isFast = false;
  #top = scrollY;
  #timer = null;
  #observer = new IntersectionObserver((entries) => this.#note(entries), { rootMargin: AHEAD });

  observe(element) {
    this.#observer.unobserve(element);
    this.#observer.observe(element);
  }

  follow() {
    const scrolled = () => this.#scrolled();
    addEventListener("scroll", scrolled, { passive: true });
    return () => {
      removeEventListener("scroll", scrolled);
      clearTimeout(this.#timer);
      this.#observer.disconnect();
    };
  }

  #note(entries) {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) this.#seen.add(target);
      else this.#seen.delete(target);
    }
    if (!this.#isFast) this.#load();
  }

  #scrolled() {
    this.#isFast = Math.abs(scrollY - this.#top) > FAST;
    this.#top = scrollY;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isFast = false;
      this.#load();
    }, REST);
    if (!this.#isFast) this.#load();
  }

  #load() {
    for (const element of this.#seen) {
      for (const picture of element.querySelectorAll("img:not([src])")) picture.src = picture.dataset.src;
    }
    this.#seen.clear();
  }
}
