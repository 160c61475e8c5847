/**
 * The address space of the hash log (FISH19 §4.1, §6.2, appendix C): one growing line of addresses
 * over a ring of pages in memory and segment files on disk.
 *
 * <p>Holds {@link io.turbidite.hashlog.log.HybridLog}: taking space at the tail, turning pages, the
 * safe tail, flushing, head, begin, and reading at an address. Knows records only by their {@link
 * io.turbidite.hashlog.log.RecordHeader}: how long they are and whether they are there; knows no
 * properties and chains. Invariants: {@code begin <= head <= durable <= safe tail <= tail}. Below
 * the safe tail nothing ever changes. Below head only the disk has the records. Bytes from disk are
 * verified against their page's checksums before anybody looks at them. Start reading at {@code
 * HybridLog}; the formats are {@code SegmentHeader}, {@code PageHeader}, {@code TailMark} and
 * {@code RecordHeader}.
 */
@NullMarked
package io.turbidite.hashlog.log;

import org.jspecify.annotations.NullMarked;
