package io.turbidite.lsm.harness;

import io.turbidite.lsm.harness.Oracle.Change;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * One thing that happens in a {@link History}. It carries all that it needs, seeds of its own
 * included, so that it means the same whatever is left out around it. <em>Immutable.</em>
 */
public sealed interface Step {
    /** How a {@link Write} is done. */
    enum Way {
        UPSERT,
        INSERT,
        DELETE,
        BATCH
    }

    /** Writes one record, or a batch; an insert of a key that is there must be refused. */
    record Write(Way way, List<Change> changes) implements Step {
        public Write {
            changes = List.copyOf(changes);
        }

        Change first() {
            return changes.getFirst();
        }

        @Override
        public String toString() {
            return way.name().toLowerCase(Locale.ROOT)
                    + changes.stream()
                            .map(Write::describe)
                            .collect(Collectors.joining("; ", " ", ""));
        }

        private static String describe(Change change) {
            return change.row() == null
                    ? "%s key %d".formatted(change.dataset(), change.id())
                    : "%s %s"
                            .formatted(
                                    change.dataset(),
                                    String.valueOf(change.row()).replaceAll("x{4,}", "xxx…"));
        }
    }

    /** Moves what is in memory to disk. */
    record Flush(String dataset) implements Step {}

    /** Merges all components of each index into one. */
    record MergeAll(String dataset) implements Step {}

    /** Repairs the indexes that are not eager, if there are any. */
    record Repair(String dataset) implements Step {}

    /** Begins or ends a change of schema, which the seed picks among those that are possible. */
    record ChangeSchema(long seed) implements Step {}

    /** Compares everything with the oracle; gets one key of each dataset. */
    record Check(long id) implements Step {}

    /** Checks every checksum, and every index against the primary. */
    record Verify() implements Step {}

    /** Opens a view and a cursor, unless enough are open. */
    record Hold(String dataset, long seed) implements Step {}

    /** Moves the cursor of one of the open views. */
    record Wander(int pick) implements Step {}

    /** Checks one of the open views and closes it. */
    record LetGo(int pick) implements Step {}

    /** Closes the store and opens it again. */
    record Reopen(long seed) implements Step {}

    /** Opens what a power cut leaves. */
    record CutPower(long seed) implements Step {}
}
