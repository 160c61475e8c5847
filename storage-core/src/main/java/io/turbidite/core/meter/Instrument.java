package io.turbidite.core.meter;

import java.util.Map;

/** One named thing that is measured. */
public sealed interface Instrument permits Counter, Latency, Reading {
    /** What it is called: parts in lower case with dots between, {@code "cache.loads"}. */
    String name();

    /** What tells it from others of its name, {@code dataset=Tweets}; sorted by key. */
    Map<String, String> tags();
}
