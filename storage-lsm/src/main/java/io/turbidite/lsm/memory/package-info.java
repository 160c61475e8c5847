/**
 * The mutable layer of an index: an ordered, multi-version structure off the heap. Many threads
 * write it while others read, scan and flush it.
 *
 * <p>Holds no log, no locks on keys and no notion of visibility beyond "newest version at or below
 * a timestamp". Invariant: an entry stays readable, unmoved, until the component is closed. Start
 * reading at {@code MemoryComponent}.
 */
@NullMarked
package io.turbidite.lsm.memory;

import org.jspecify.annotations.NullMarked;
