package io.turbidite.core.meter;

import org.jspecify.annotations.Nullable;

/**
 * Something that a store did on its own account, with its cause and size. Immutable.
 *
 * <p>Times are microseconds of the wall clock, durations nanoseconds.
 */
public sealed interface StoreEvent {
    /** When it ended. */
    long wallMicros();

    /**
     * The memory components of a partition went to disk.
     *
     * @param cause what asked for it: {@code "memory"} (write memory fills), {@code "log"} (the log
     *     is longer than it may be), {@code "request"}, {@code "frozen"} (an earlier try or a
     *     change of the schema had frozen the layer)
     * @param minTimestamp with {@code maxTimestamp} the new components' ID
     */
    record Flushed(
            long wallMicros,
            String dataset,
            int partition,
            String cause,
            long minTimestamp,
            long maxTimestamp,
            long entryCount,
            long bytesWritten,
            long nanos)
            implements StoreEvent {}

    /** Disk components of an index became one. */
    record Merged(
            long wallMicros,
            String dataset,
            int partition,
            String index,
            String cause,
            int inputCount,
            long bytesRead,
            long bytesWritten,
            long entriesRead,
            long entriesWritten,
            long nanos)
            implements StoreEvent {}

    /**
     * A component of a secondary index was checked against the primary's keys.
     *
     * @param cause {@code "merge"}: it was just merged; {@code "request"}: by itself;
     *     {@code "auto"}: by itself, because its index is maintained so
     * @param checked entries looked at
     * @param spared of these, told by Bloom filters alone
     * @param searched of these, looked up in key trees
     * @param marked of these, found invalid
     */
    record Repaired(
            long wallMicros,
            String dataset,
            int partition,
            String index,
            String cause,
            long checked,
            long spared,
            long searched,
            long marked,
            long nanos)
            implements StoreEvent {}

    /**
     * The repair of an index under auto is placed elsewhere from now on.
     *
     * @param before {@code "never"}, {@code "when idle"}, {@code "at merge"} or {@code "now"}, as
     *     is {@code after}
     * @param reason a sentence with the figures that it was decided by
     */
    record RepairPlaced(
            long wallMicros,
            String dataset,
            String index,
            String before,
            String after,
            String reason)
            implements StoreEvent {}

    /**
     * A merge began that no policy wanted, to take obsolete entries out of deferred indexes.
     *
     * @param percent of the entries of the index that has most, about
     * @param cause {@code "idle"}: nothing else was to be done; {@code "query"}: one passed over
     *     too many
     */
    record GarbageMerged(long wallMicros, String dataset, int partition, int percent, String cause)
            implements StoreEvent {}

    /** Writers had to wait. */
    record Stalled(long wallMicros, String dataset, int partition, String cause, long nanos)
            implements StoreEvent {}

    /**
     * Writers are held to a pace at which flushes and merges keep up, or no longer ({@code slowed}
     * false).
     *
     * @param bytesPerSecond the pace at that moment, of all writers together; it follows the
     *     backlog
     */
    record Slowed(long wallMicros, boolean slowed, long bytesPerSecond) implements StoreEvent {}

    /**
     * A snapshot is old: what it shows is kept, on disk too, until it is closed.
     *
     * @param timestamp the snapshot's
     * @param count how many snapshots and views are open at it
     * @param ageNanos since the first of them was opened
     */
    record SnapshotOld(long wallMicros, long timestamp, int count, long ageNanos)
            implements StoreEvent {}

    /** The store was opened. */
    record Recovered(long wallMicros, long logBytes, long operationCount, long nanos)
            implements StoreEvent {}

    /**
     * By the wall clock, retention would drop components that are not old by the records of their
     * dataset: either the clock is wrong, or nothing new has come for a while. They stay until
     * newer records or running time say the same.
     *
     * @param dataset its name; of a hash log "log" and the name
     * @param dataMicros what time it is at least, by the newest record and the running time since
     */
    record RetentionHeldBack(long wallMicros, String dataset, long dataMicros)
            implements StoreEvent {}

    /**
     * Retention dropped components of a partition.
     *
     * @param componentCount of all its indexes
     * @param entryCount of the primary's
     */
    record Expired(
            long wallMicros,
            String dataset,
            int partition,
            int componentCount,
            long entryCount,
            long bytes)
            implements StoreEvent {}

    /**
     * A component was found damaged and is set aside: it is neither read nor merged nor dropped
     * until it is restored, or its index rebuilt. What does not need it goes on.
     *
     * @param file of the component
     * @param cause what was found wrong
     */
    record Quarantined(
            long wallMicros,
            String dataset,
            int partition,
            String index,
            String file,
            long bytes,
            String cause)
            implements StoreEvent {}

    /**
     * The store was opened with a cache that can't hold a page of each component that the merge
     * policy of a dataset keeps: scans may be refused while others run.
     *
     * @param neededBytes by one scan
     */
    record CacheTooSmall(long wallMicros, String dataset, long neededBytes, long cacheBytes)
            implements StoreEvent {}

    /**
     * A reader met damage in a component. It is merged next, by itself: either that makes a new one
     * of it, or it is {@link Quarantined}.
     *
     * @param file of the component
     * @param cause what was found wrong
     */
    record DamageMet(
            long wallMicros, String dataset, int partition, String index, String file, String cause)
            implements StoreEvent {}

    /**
     * A component is in use again that was set aside: its file is whole.
     *
     * @param file of the component
     */
    record QuarantineLifted(
            long wallMicros, String dataset, int partition, String index, String file, long bytes)
            implements StoreEvent {}

    /**
     * The file of a component's invalid entries is damaged, and not needed: repair marks them
     * again.
     *
     * @param file of the invalid entries
     * @param cause what was found wrong
     */
    record DeadEntriesDropped(
            long wallMicros, String dataset, int partition, String index, String file, String cause)
            implements StoreEvent {}

    /**
     * A backup was completed.
     *
     * @param timestamp the last operation that is in it
     * @param linkedCount component files shared with the store
     * @param copiedCount component files copied
     * @param bytes of all component files of the backup
     */
    record BackedUp(long wallMicros, long timestamp, int linkedCount, int copiedCount, long bytes)
            implements StoreEvent {}

    /**
     * A shipment was sent, or what its receiver lacked.
     *
     * @param timestamp the last operation that is in it
     * @param fileCount component files sent
     * @param bytes of these files
     */
    record Shipped(long wallMicros, long timestamp, int fileCount, long bytes)
            implements StoreEvent {}

    /**
     * Components and bitmaps that no manifest names went to the trash, or from there, back or for
     * good.
     *
     * @param cause {@code "opening"}: the opening found them and put them there;
     *     {@code "manifest"}: it names them, and the opening put them back; deleted by
     *     {@code "command"}, for their {@code "age"}, or since {@code "space"} on disk was short
     */
    record TrashChanged(long wallMicros, String cause, int fileCount, long bytes)
            implements StoreEvent {}

    /** Background work stopped for want of space on disk, or went on ({@code paused} false). */
    record SpaceChanged(long wallMicros, boolean paused, String what) implements StoreEvent {}

    /**
     * An index began to be built, got on, or came to its end; or one was dropped, disabled, or its
     * dataset dropped. An opening tells which are disabled: the process before may have been killed
     * while it built one anew.
     *
     * @param index its name; empty if it is the whole dataset
     * @param state {@code building}, {@code ready}, {@code failed}, {@code stopped},
     *     {@code dropped} or {@code disabled}
     * @param recordsRead entries of the primary read for it so far
     * @param recordsTotal entries of the primary to be read for it
     * @param nanos since it began
     */
    record IndexChanged(
            long wallMicros,
            String dataset,
            String index,
            String state,
            long recordsRead,
            long recordsTotal,
            long nanos)
            implements StoreEvent {}

    /**
     * The store was opened with direct I/O, which the file system refuses: components are read and
     * written through the page cache. Move the store to a file system that has it, such as ext4 or
     * XFS, or open it without the option.
     *
     * @param disk where the store is
     */
    record DirectIoRefused(long wallMicros, String disk) implements StoreEvent {}

    /**
     * A region of an index can't be used: it is missing, damaged, another's, left behind or full.
     * The index is not searched, and a store that was opened to be changed builds it anew in the
     * background; one that is full stays disabled.
     *
     * @param cause in words
     */
    record RegionRefused(long wallMicros, String dataset, int partition, String index, String cause)
            implements StoreEvent {}

    /**
     * A region that no index has any more could not be deleted. An opening tries again, and tells
     * again if it can't; but for a file of the store that this one is a copy of, or was before it
     * was moved: that is told once, and left.
     *
     * @param cause in words; it names the file
     */
    record RegionLeft(long wallMicros, String dataset, int partition, String index, String cause)
            implements StoreEvent {}

    /**
     * A source went on in the middle of a record that a feed had taken, for want of anything more
     * to read.
     *
     * @param line where the record begins, from 1, as does {@code offset} in bytes
     * @param before the record's text as it was taken, cut if it is long
     * @param after its text now
     * @param outcome {@code "replaced"}: the new record is in the old one's place; {@code "taken"}:
     *     the new one is accepted, the old one never was; {@code "rejected"}: the new one is a dead
     *     letter, and the old one stays
     */
    record SourceContinued(
            long wallMicros,
            String feed,
            String file,
            long line,
            long offset,
            String before,
            String after,
            String outcome)
            implements StoreEvent {}

    /**
     * A feed's source has lost records before the feed has read them, and the feed went on behind
     * them, as its definition says.
     *
     * @param partition of the source
     * @param from the place of the first of them, as the source counts
     * @param to the place behind the last one; below {@code from} if the source has less than was
     *     read of it, so that the feed reads what it has
     */
    record SourceGap(long wallMicros, String feed, String partition, long from, long to)
            implements StoreEvent {}

    /**
     * A feed goes on without records that it had acknowledged, and kept in a file until the store
     * would take them: somebody has said so.
     *
     * @param file of the spill, or its directory
     * @param how it is: {@code "was deleted"}, {@code "is passed over, as its name says"}
     */
    record SpillLost(long wallMicros, String feed, String file, String how) implements StoreEvent {}

    /**
     * A feed among many came to another state: see {@code FeedState}.
     *
     * @param before the state's word, {@code "running"} for one, as is {@code after}; empty if the
     *     feed is new
     * @param after empty if the feed was dropped
     * @param cause what it failed of, if it did
     */
    record FeedChanged(
            long wallMicros,
            String feed,
            String dataset,
            String before,
            String after,
            @Nullable String cause)
            implements StoreEvent {}

    /**
     * A store that is being closed waits for a call that uses what would be closed.
     *
     * @param whose call: a cursor's, a bulk loader's
     * @param nanos how long it has waited
     */
    record CloseKept(long wallMicros, String whose, long nanos) implements StoreEvent {}

    /**
     * A listener that was told of a durable commit took long; those behind it waited.
     *
     * @param nanos how long it took
     */
    record ListenerSlow(long wallMicros, long nanos) implements StoreEvent {}

    /** Something failed where no caller can be told. */
    record Failed(long wallMicros, String what, @Nullable Throwable cause) implements StoreEvent {}
}
