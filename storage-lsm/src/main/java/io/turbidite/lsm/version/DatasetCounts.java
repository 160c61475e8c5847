package io.turbidite.lsm.version;

import io.turbidite.lsm.schema.RepairPlacement;

import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * What was done with a dataset since it was created, as far as advice on its strategies needs it.
 * Kept in the manifest, so that it outlives the process. <em>Immutable.</em>
 *
 * <p>Writes are counted when they are flushed, in the manifest edit that installs the flush: never
 * twice, and none is lost in a crash. What was read since the last edit is lost in one; these are
 * statistics.
 *
 * @param indexes by index id
 * @param repairs where repair is placed, by the ids of indexes under auto
 */
public record DatasetCounts(
        Flushes flushes,
        Lookups lookups,
        Reads reads,
        Map<Integer, IndexReads> indexes,
        Map<Integer, RepairPlacement> repairs) {
    /** Nothing was done. */
    public static final DatasetCounts NONE = new DatasetCounts(
            new Flushes(0, 0, 0, 0), new Lookups(0, 0), new Reads(0, 0, 0), Map.of(), Map.of());

    public DatasetCounts {
        indexes = Map.copyOf(indexes);
        repairs = Map.copyOf(repairs);
    }

    /**
     * What flushes and merges did to the primary.
     *
     * @param writes upserts, inserts and deletes that were flushed
     * @param deletes of these, as far as their anti-matter went to disk
     * @param superseded versions that flushes and merges left out, a newer one having taken their
     *     place
     * @param merged entries that merges wrote
     */
    public record Flushes(long writes, long deletes, long superseded, long merged) {
        Flushes plus(Flushes more) {
            return new Flushes(
                    writes + more.writes,
                    deletes + more.deletes,
                    superseded + more.superseded,
                    merged + more.merged);
        }
    }

    /**
     * What writers found of the version before, where the strategy has them look it up on disk.
     *
     * @param lookedUp writes that looked
     * @param found of these, there was one
     */
    public record Lookups(long lookedUp, long found) {}

    /**
     * What readers did with what indexes returned.
     *
     * @param fetched records looked up by their primary keys, many at a time
     * @param validated candidates whose timestamps were looked up in key trees
     * @param valid of these, current
     */
    public record Reads(long fetched, long validated, long valid) {}

    /**
     * Searches of one index.
     *
     * @param searches one for each partition and query
     * @param entries what they returned
     */
    public record IndexReads(long searches, long entries) {
        /** It was not searched. */
        public static final IndexReads NONE = new IndexReads(0, 0);
    }

    /** The same with more flushed or merged. */
    public DatasetCounts plus(Flushes more) {
        return new DatasetCounts(flushes.plus(more), lookups, reads, indexes, repairs);
    }

    /** The same without an index. */
    public DatasetCounts withoutIndex(int id) {
        Map<Integer, IndexReads> fewer = new TreeMap<>(indexes);
        fewer.remove(id);
        Map<Integer, RepairPlacement> fewerRepairs = new TreeMap<>(repairs);
        fewerRepairs.remove(id);
        return new DatasetCounts(flushes, lookups, reads, fewer, fewerRepairs);
    }

    /** The searches of an index. */
    public IndexReads index(int id) {
        return Objects.requireNonNullElse(indexes.get(id), IndexReads.NONE);
    }

    /** The indexes in the order of their ids. */
    Map<Integer, IndexReads> sorted() {
        return new TreeMap<>(indexes);
    }

    /** The placements in the order of the ids of their indexes. */
    Map<Integer, RepairPlacement> sortedRepairs() {
        return new TreeMap<>(repairs);
    }
}
