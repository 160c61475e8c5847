/**
 * The address space of the hash log (FISH19 §4.1, §6.2, appendix C): one growing line of addresses over a
 * ring of pages in memory and segment files on disk.
 *
 * <p>Holds {@link io.turbidite.hashlog.log.HybridLog}: taking space at the tail, turning pages, the safe
 * tail, flushing, head, begin, and reading what lies at an address. Knows records by their {@link
 * io.turbidite.hashlog.log.RecordHeader} alone: how long they are and whether they are there; nothing of
 * properties and chains. Invariant: {@code begin <= head <= durable <= safe tail <= tail}; below the safe
 * tail nothing ever changes, below head only the disk has it, and what comes from disk was verified
 * against its page's checksums before anybody looks at it. Start reading at {@code HybridLog}, the formats
 * are {@code SegmentHeader}, {@code PageHeader}, {@code TailMark} and {@code RecordHeader}.
 */
@NullMarked
package io.turbidite.hashlog.log;

import org.jspecify.annotations.NullMarked;
