"""Forms of words that shops sell things by, for tests: each row is one word, its plain form first."""

from __future__ import annotations

INFLECTIONS: tuple[tuple[str, ...], ...] = tuple(
    tuple(line.split())
    for line in """
    hike hikes hiking hiked
    bake bakes baking baked
    light lights lighting lighted
    cook cooks cooking cooked
    camp camps camping camped
    charge charges charging charged
    carry carries carrying carried
    scan scans scanning scanned
    clean cleans cleaning cleaned
    print prints printing printed
    paint paints painting painted
    stretch stretches stretching stretched
    polish polishes polishing polished
    dress dresses dressed
    fold folds folding folded
    rotate rotates rotating rotated
    heat heats heating heated
    cool cools cooling cooled
    record records recording recorded
    stamp stamps stamping stamped
    quilt quilts quilting quilted
    knit knits knitting knitted
    hydrate hydrates hydrating hydrated
    travel travels travelling travelled traveling traveled
    label labels labelling labelled labeling labeled
    filter filters filtering filtered
    monitor monitors monitoring monitored
    copy copies copying copied
    sleep sleeps sleeping
    wash washes washing washed
    """.strip().splitlines()
)
