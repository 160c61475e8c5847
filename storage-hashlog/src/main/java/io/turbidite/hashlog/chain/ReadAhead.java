package io.turbidite.hashlog.chain;

import io.turbidite.hashlog.log.LogReader;

/** Decides how much a chain walk fetches from disk at once. <em>Confined to one thread.</em> */
public interface ReadAhead {
    /** The walk is about to look at this key pointer. */
    void before(LogReader reader, long keyPointer);

    /** The walk has shown a record of this length. */
    void visited(int recordBytes);
}
