package io.turbidite.lsm.harness;

import io.turbidite.core.sim.Seeds;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * What a store must hold: sorted maps, the history of commits that led there, and how many of them
 * were acknowledged. A recovered store must equal the state after some prefix of the history that
 * is at least as long as what was durable.
 */
public final class Oracle {
    /** One change of a commit; a null row is a delete. */
    record Change(String dataset, long id, @Nullable Row row) {}

    private final List<List<Change>> history = new ArrayList<>();
    private final List<Long> hashes = new ArrayList<>();
    private final Map<String, NavigableMap<Long, Row>> state = new HashMap<>();
    private long hash;
    private int durable;

    public Oracle() {
        hashes.add(0L);
    }

    NavigableMap<Long, Row> rows(String dataset) {
        return state.computeIfAbsent(dataset, name -> new TreeMap<>());
    }

    /** Notes a commit that is about to be made; it may or may not be there after a crash. */
    void begin(List<Change> changes) {
        history.add(List.copyOf(changes));
        apply(changes);
        hashes.add(hash);
    }

    private void apply(List<Change> changes) {
        for (Change change : changes) {
            NavigableMap<Long, Row> rows = rows(change.dataset());
            Row row = change.row();
            Row before = row == null ? rows.remove(change.id()) : rows.put(change.id(), row);
            if (before != null) {
                hash ^= hashOf(change.dataset(), before);
            }
            if (row != null) {
                hash ^= hashOf(change.dataset(), row);
            }
        }
    }

    /** Everything begun so far is acknowledged as durable. */
    public void acknowledge() {
        durable = history.size();
    }

    public int commitCount() {
        return history.size();
    }

    /** The hash of the state after so many commits. */
    public long hashAfter(int commits) {
        return hashes.get(commits);
    }

    public int durableCount() {
        return durable;
    }

    static long hashOf(String dataset, Row row) {
        return Seeds.mix(dataset.hashCode(), Seeds.mix(row.id(), row.hashCode()));
    }

    /**
     * Which prefix of the history has this hash.
     *
     * @return its length, or -1 if none that is long enough has it
     */
    public int prefixWith(long wanted) {
        for (int i = hashes.size() - 1; i >= durable; i--) {
            if (hashes.get(i) == wanted) {
                return i;
            }
        }
        return -1;
    }

    /** Forgets the last commit begun: it was refused and changed nothing. */
    public void undo() {
        int kept = durable;
        rewind(history.size() - 1);
        durable = kept;
    }

    /** Goes back to a prefix, after a crash. */
    void rewind(int length) {
        List<List<Change>> kept = new ArrayList<>(history.subList(0, length));
        history.clear();
        hashes.clear();
        state.clear();
        hash = 0;
        hashes.add(0L);
        kept.forEach(this::begin);
        durable = length;
    }
}
