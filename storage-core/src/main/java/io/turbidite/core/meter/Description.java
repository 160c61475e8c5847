package io.turbidite.core.meter;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What an instrument tells, in words: the table from which scrapes have their descriptions and
 * units. {@code docs/metrics.md} has the same rows, and when to worry; a test compares them, and
 * sees to it that every instrument of a store, a hash log, a feed and the server has one.
 *
 * <p><em>Immutable.</em> The table is read when it is asked for first: who exports nothing doesn't
 * pay for it.
 *
 * @param kind {@code counter}, {@code total}, {@code gauge} or {@code latency}
 * @param unit {@code bytes}, {@code bytes/s}, {@code %}, {@code s}, {@code ns}, what the values
 *     mean ({@code 0 or 1}, {@code address}), or empty for plain counts
 */
public record Description(String name, String kind, String unit, String text) {
    private static final String ROWS = """
            write.bytes | counter, bytes | bytes of keys and records that writers wrote
            write.time | latency | one write or batch that was done, until readers see it; where \
            the caller waits for it, until it is durable
            write.delay.time | latency | how long writers waited to keep the pace that \
            flushes and merges can follow
            write.stall.time | latency | how long writers stood still because write memory \
            was full or merges were too far behind
            write.amplification.percent | gauge, % | bytes written by log, flushes and \
            merges for each 100 bytes that writers wrote
            memory.unflushed.bytes | gauge, bytes | size of the memory components that are \
            not on disk yet
            log.bytes | gauge, bytes | log that a crash would have to replay
            log.records | total | records in the log, one for each write or batch
            log.batches | total | writes to the log's file or its mapping; log.records \
            divided by it shows what group commit saves
            log.bytes.written | total, bytes | frames written to the log
            log.syncs | total | syncs of the log
            log.waits | total | times that a writer waited for room in the log's ring or \
            files
            log.segments.made | total | new segment files, made because no old one could be \
            used again
            log.bytes.zero | total, bytes | zeros written ahead, so that a full disk refuses \
            a write instead of failing it: each new segment under sync and where segments \
            are mapped, one reserve otherwise
            log.refuges | total | times that the log met a full disk and went on in its \
            reserve
            sort.bytes.spilled | counter, bytes | runs that external sorts of bulk loads and \
            index builds wrote
            load.entries | counter | entries that bulk loads put into components
            load.bytes | counter, bytes | size of the components that bulk loads wrote
            flush.time | latency | a flush of a partition from the moment its log is on disk \
            to its components being in use; waits that let commits go first are included
            flush.bytes | counter, bytes | size of the components that flushes wrote, all \
            indexes
            merge.time | latency | the steps of one merge, without the waits between them. A \
            merge of all indexes together (correlated) counts once for each tree, each time \
            with the whole time
            merge.bytes.read | counter, bytes | size of the components that merges read
            merge.bytes.written | counter, bytes | size of the components that merges wrote
            merge.backlog.bytes | gauge, bytes | what running merges still have to read
            merge.backlog.components | gauge | components above what the merge policy \
            tolerates, for the index that is most behind
            merge.pace.bytes | gauge, bytes/s | how fast merges may write without getting in \
            the way of commits
            cache.background.bytes | gauge, bytes | pages that background work reads beside \
            the cache, because readers pin the whole cache
            cache.large.bytes | gauge, bytes | pages in use that are larger than the whole \
            cache and are read beside it
            components.quarantined | gauge | damaged components that are set aside: the \
            store does not read, merge or delete them
            quarantine.count | counter | times that the store set a component aside since \
            the opening
            background.pauses | counter | times that a flush or a merge gave up because \
            space or file handles ran out; it tries again
            repair.time | latency | one repair of one component
            repair.entries.checked | counter | entries that repairs looked at
            repair.entries.spared | counter | of repair.entries.checked, those that Bloom \
            filters or timestamps alone decided
            repair.entries.searched | counter | of repair.entries.checked, those looked up \
            in key trees
            repair.entries.marked | counter | of repair.entries.checked, those found invalid
            repair.key.pages | counter | pages of key trees that repairs read
            repair.moves | counter | times that auto moved the repair of an index to another \
            place; event RepairPlaced says why
            merge.for.garbage | counter | merges that no policy wanted, to take obsolete \
            entries out of deferred indexes
            deferred.antimatter | counter | anti-matter that merges of primaries made for \
            deferred indexes
            deferred.removed | counter | entries of deferred indexes that the anti-matter of \
            deferred.antimatter removed
            deferred.garbage.percent | gauge, % | obsolete entries for each 100, in the \
            deferred index that has most
            deletedkey.removed | counter | entries that merges of deleted-key indexes left \
            out
            bitmap.marks | counter | superseded records that writers invalidated under \
            mutable-bitmap
            bitmap.kills.bytes | gauge, bytes | invalidation times that mutable validity \
            bitmaps hold for open snapshots and views
            bitmap.saves | counter | mutable validity bitmaps written to disk
            bitmap.save.bytes | counter, bytes | size of the mutable validity bitmaps \
            written to disk
            sidefile.entries | counter | invalidations that went through side-files because \
            a flush or merge was copying the entry
            sidefile.bytes | counter, bytes | keys and timestamps of the invalidations that \
            went through side-files
            sidefile.full | counter | times that a merge's side-file had no memory left and \
            the merge read the bitmaps instead
            handover.locks.refused | counter | merges that used a side-file because there \
            was too little memory for locks
            retention.components | counter | components that retention dropped
            backup.count | counter | backups completed
            verify.bytes | counter, bytes | components that verify went through: each counts \
            twice, as a file and against the primary. It is there when verify was called
            backup.bytes | counter, bytes | size of the component files of completed backups
            shipment.count | counter | shipments sent
            shipment.bytes | counter, bytes | size of the component files of shipments sent
            trash.bytes | gauge, bytes | component files that no manifest names, and that an \
            opening put aside
            cursors.open | gauge | open cursors
            cursors.let.go | counter | idle cursors from which the store took an old \
            version, to delete its files
            lookup.keys | counter | records that queries asked for by primary key, in \
            batches
            lookup.layers | counter | components and memory layers that batches of \
            lookup.keys visited
            lookup.bloom.tests | counter | Bloom filters asked for batches of lookup.keys
            lookup.searches | counter | searches in trees for batches of lookup.keys
            lookup.pages | counter | pages read for batches of lookup.keys, from the cache \
            or from disk
            filter.layers | counter | memory layers and components that searches, scans and \
            fetches with a filter considered; tags dataset and index. Each partition, batch \
            of a fetch and word of a search counts by itself. An index has it once it was \
            searched with a filter
            filter.layers.passed | counter | of filter.layers, those that were passed over; \
            tag filter, the field that ruled them out, beside those of filter.layers
            token.components | counter | components that searches for tokens asked; tags \
            dataset and index. Each token of a search counts by itself
            token.components.passed | counter | of token.components, those whose Bloom \
            filter of tokens said that they lack the token
            validation.candidates | counter | index entries that readers validated by their \
            timestamps
            validation.searches | counter | searches of key trees on disk for \
            validation.candidates
            validation.decided | counter | index entries that readers needed not validate, \
            since it was known which versions are live
            validation.keys | counter | keys of the primary that were read to know which \
            versions are live
            memory.used.bytes | gauge, bytes | memory that the store has taken from its budget, \
            with those that share its runtime; off the heap, but for bits of live versions
            memory.budget.bytes | gauge, bytes | the most that memory.used.bytes may be: \
            write memory and cache, what merges, queries and regions may take besides, \
            and live bitmaps as they are
            memory.queries.bytes | gauge, bytes | of memory.used.bytes, what queries hold of \
            the rows that they sort, group and join
            cache.bytes | gauge, bytes | memory that the buffer cache holds
            cache.frames | gauge | pages in the cache
            cache.frames.pinned | gauge | of cache.frames, those that an open cursor or \
            search uses now
            cache.readahead.bytes | gauge, bytes | buffers that scans and fetches read ahead \
            into
            cache.hits | total | requested pages that were in the cache
            cache.loads | total | pages read from disk; hits / (hits + loads) is the hit \
            rate
            cache.load | latency | reading, checking and unpacking one page
            cache.evictions | total | pages that left the cache for other pages, or with \
            their file
            disk.direct | gauge, 0 or 1 | whether the store reads and writes components past \
            the page cache; exists only with direct I/O
            hashlog.ingest.records | counter | records that sessions received
            hashlog.ingest.bytes | counter, bytes | payload of these records
            hashlog.ingest.rejected | counter | records that could not be parsed
            hashlog.ingest.stalls | counter | times that a session waited for a free page
            hashlog.ingest.stall.nanos | counter, ns | time that sessions waited for a free \
            page
            hashlog.session.stalls | counter | sessions that kept all others waiting because \
            they had not moved for long
            hashlog.chain.contended | counter | insertions into a chain that had to try \
            again because another session was first
            hashlog.flush.pages | counter | whole pages written
            hashlog.flush.bytes | counter, bytes | bytes of pages written, whole or in part
            hashlog.tail | gauge, address | where the next record goes
            hashlog.durable | gauge, address | everything below this address is on disk
            hashlog.disk.direct | gauge, 0 or 1 | whether the log reads and writes past the \
            page cache; exists only with direct I/O
            hashlog.table.buckets | gauge | buckets of the hash table
            hashlog.table.overflow | gauge | buckets chained behind full ones
            hashlog.checkpoint.count | counter | checkpoints of the index written
            hashlog.checkpoint.bytes | counter, bytes | size of the checkpoints written
            hashlog.checkpoint.failures | counter | checkpoints that failed; the log tries \
            again later
            hashlog.history.runs | counter | runs that the indexing of history wrote
            hashlog.history.dropped | counter | runs deleted because the log has dropped the \
            records that they index
            hashlog.history.records | counter | records that the indexing of history looked \
            at
            hashlog.history.damaged | counter | runs that a query could not read, and looked \
            past
            feed.state | gauge | 0 starting, 1 running, 2 waiting, 3 paused, 4 retrying, 5 \
            failed, 6 ended: what they mean
            feed.records | counter | records that came through; tag stage: parsed, or \
            accepted by the store. After a failure some are parsed again
            feed.bytes | counter, bytes | tag stage: parse what was read of the source, as \
            it is stored there; store the records as the store has them
            feed.rejected | counter | dead letters; tag stage: parse what is malformed, \
            store what the store refused, as a second record of a key under insert
            feed.dropped | total | records left out because the definition says so
            feed.spilled | counter | records that waited in files, by the policy spill
            feed.spilled.bytes | counter, bytes | what those files took of it
            feed.spill.records | gauge | records that wait in files now, but for what an earlier \
            run has left
            feed.spill.bytes | gauge, bytes | what waits there
            feed.spill.percent | gauge, % | of policy.bytesMax, what the files take
            feed.function.time | latency | one call of a function of your own
            feed.lag.bytes | gauge, bytes | what the source has beyond what is read; there \
            once a source with an end has said how much it has
            feed.lag.records | gauge | feed.lag.bytes in records, by the bytes of those that \
            were parsed
            feed.lag.seconds | gauge, s | what came before that many seconds ago is read: 0 \
            while the feed waits for its source. Of sources without an end
            feed.missed | counter | records that the source has lost before the feed read them, \
            as retention of a topic does; the event SourceGap says which
            feed.queue.batches | gauge | parsed batches that wait for the store
            feed.queue.bytes | gauge, bytes | what the batches that wait for the store hold, \
            raw text too
            feed.producers | gauge | producers that the feed knows, of sources http and tcp
            feed.producers.forgotten | counter | producers that were not seen for seven \
            days, and whose numbers were forgotten
            feed.workers | gauge | threads that parse, each with its queue; 0 while the feed \
            does not run
            feed.queue.percent | gauge, % | how full the fullest queue is, by batches or by \
            bytes
            feed.busy.nanos | counter, ns | time at work, of all workers together; tag stage
            feed.wait.nanos | counter, ns | time of waits; tag cause: source the reader \
            found nothing, store the reader found the queue full, parse the store's stage \
            found the queue empty
            feed.batch.time | latency | from the reading of a batch's first record to its \
            being in the store
            http.requests | counter | requests that were answered; tags route and code
            http.time | latency | from a request's head to the head of its answer; tag route
            http.bytes.in | counter, bytes | bodies of requests
            http.bytes.out | counter, bytes | bodies of answers
            http.connections | gauge | open connections
            http.connections.broken | total | connections that ended by a fault of the server; \
            resets and a client's TLS are none
            http.requests.running | gauge | requests at work
            http.streams | gauge | open event streams
            http.events.lost | total | events that came faster than they could be numbered \
            and sent
            http.events.failures | total | samples and events that were left out because \
            making or sending them failed
            tcp.connections | gauge | open connections that send lines
            tcp.bytes.held | gauge, bytes | what they have sent and no feed has taken yet; \
            64 MiB at most and a read each
            tcp.refused | counter | connections that were ended with an error
            http.series.refused | gauge | instruments that /metrics leaves out, since there \
            are more than 2,000 series
            """;

    /** Held apart so that the table is read when it is wanted. */
    private static final class Table {
        private static final Map<String, Description> BY_NAME = new LinkedHashMap<>();

        static {
            ROWS.lines().map(Table::row).forEach(row -> BY_NAME.put(row.name(), row));
        }

        private static Description row(String line) {
            String[] cells = line.split(" \\| ", 3);
            int comma = cells[1].indexOf(',');
            String kind = comma < 0 ? cells[1] : cells[1].substring(0, comma);
            String unit = comma < 0 ? "" : cells[1].substring(comma + 2);
            return new Description(cells[0], kind, unit, cells[2]);
        }
    }

    /** All there are, in the order of the page. */
    public static List<Description> all() {
        return List.copyOf(Table.BY_NAME.values());
    }

    /** That of an instrument, null if nobody described it. */
    public static @Nullable Description of(String name) {
        return Table.BY_NAME.get(name);
    }

    /** The unit as scrapers spell it, null for plain numbers: times are in seconds. */
    public @Nullable String baseUnit() {
        return switch (unit) {
            case "bytes" -> "bytes";
            case "bytes/s" -> "bytes_per_second";
            case "%" -> "percent";
            case "s", "ns" -> "seconds";
            default -> kind.equals("latency") ? "seconds" : null;
        };
    }

    /** By what a value is multiplied to be in the base unit. */
    public double scale() {
        return unit.equals("ns") ? 1e-9 : 1;
    }

    /**
     * The name with the base unit at its end, where scrapers want it: {@code merge.bytes.read} is
     * {@code merge.read.bytes}, {@code feed.busy.nanos} is {@code feed.busy.seconds}.
     */
    public String exportedName() {
        String base = baseUnit();
        if (base == null || kind.equals("latency")) {
            return name;
        }
        List<String> parts = new ArrayList<>(Arrays.asList(name.split("\\.")));
        parts.removeAll(List.of("bytes", "percent", "seconds", "nanos"));
        parts.add(base.replace('_', '.'));
        return String.join(".", parts);
    }
}
