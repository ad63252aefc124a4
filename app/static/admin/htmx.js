// The vendored htmx is a classic script that stands before the modules; this is its one name among them.
export default window.htmx;
