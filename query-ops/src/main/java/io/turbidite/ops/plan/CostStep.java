package io.turbidite.ops.plan;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A step of queries whose cost the planner knows. The costs are not in the code: {@code ./turbidite
 * bench planner --calibrate} measures them and writes the resource {@value #RESOURCE}, which is
 * read when the first cost is asked for. <em>Immutable.</em>
 */
enum CostStep {
    /** Opening cursors on the components of an index or of the primary index. */
    OPEN("open"),
    /** Reading a record by a scan, and refusing it by a range: the unit of costs that are shown. */
    REFUSED("scan.refused"),
    /** Reading an entry of a B+-tree. */
    BTREE_ENTRY("entry.btree"),
    /** Reading an entry of an R-tree. */
    RTREE_ENTRY("entry.rtree"),
    /** Reading an entry of a word or of another token. */
    WORD_ENTRY("entry.word"),
    /** A look at the key trees for an entry that may be obsolete. */
    VALIDATION("validation"),
    /** Fetching one of ten thousand records by its key. */
    FETCH("fetch"),
    /** How much more it is of ten times as many: fewer are in the processor's caches. */
    FETCH_TENFOLD("fetch.tenfold"),
    /** Fetching one of the fewest. */
    FETCH_LEAST("fetch.least"),
    /** Fetching one of a hundred thousand where one of ten is fetched. */
    FETCH_DENSE("fetch.dense"),
    /** Keeping a candidate until other indexes were asked. */
    KEPT("candidate.kept"),
    /** Looking a primary key up among those that another index has. */
    PROBED("candidate.probed"),
    /** Putting a row into the table of a join. */
    JOIN_HELD("join.held"),
    /** Looking a row up in it, or trying a pair. */
    JOIN_PROBED("join.probed"),
    /** Making a row of a pair. */
    JOIN_PAIR("join.pair");

    static final String RESOURCE = "costs.txt";

    /** Of the file: another one has other steps, or other units. */
    static final int VERSION = 1;

    private static final String VERSION_LINE = "version";

    private final String label;

    CostStep(String label) {
        this.label = label;
    }

    /** Its name in the file. */
    String label() {
        return label;
    }

    /** Nanoseconds of CPU. */
    double nanos() {
        return Objects.requireNonNull(Costs.NANOS.get(this));
    }

    /** In records that a scan reads and a range refuses. */
    double units() {
        return nanos() / REFUSED.nanos();
    }

    /** Read once, by who asks first. */
    private static final class Costs {
        static final Map<CostStep, Double> NANOS = read();

        private static Map<CostStep, Double> read() {
            try (InputStream file = CostStep.class.getResourceAsStream(RESOURCE)) {
                if (file == null) {
                    throw new IllegalStateException("there is no resource " + RESOURCE);
                }
                return parse(new String(file.readAllBytes(), StandardCharsets.UTF_8));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /**
     * Reads the text of the file.
     *
     * @throws IllegalStateException naming the line or the step, if one is absent, unknown, there
     *     twice, or no positive number
     */
    static Map<CostStep, Double> parse(String text) {
        Map<String, Double> found = new HashMap<>();
        for (String line : text.lines().toList()) {
            List<String> words = List.of(line.strip().split("\\s+"));
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            if (words.size() != 2 || !words.getLast().matches("[0-9]{1,9}(\\.[0-9]{1,3})?")) {
                throw new IllegalStateException(
                        "costs of the planner: '%s' is no name with a number".formatted(line));
            }
            if (found.put(words.getFirst(), Double.valueOf(words.getLast())) != null) {
                throw new IllegalStateException(
                        "costs of the planner: '%s' is there twice".formatted(words.getFirst()));
            }
        }
        Double version = found.remove(VERSION_LINE);
        if (version == null || version != VERSION) {
            throw new IllegalStateException(
                    "costs of the planner: version %s, not %d".formatted(version, VERSION));
        }
        Map<CostStep, Double> costs = new EnumMap<>(CostStep.class);
        for (CostStep step : values()) {
            Double nanos = found.remove(step.label);
            if (nanos == null || nanos <= 0) {
                throw new IllegalStateException(
                        "costs of the planner: no cost of '%s'".formatted(step.label));
            }
            costs.put(step, nanos);
        }
        if (!found.isEmpty()) {
            throw new IllegalStateException(
                    "costs of the planner: there is no step %s".formatted(found.keySet()));
        }
        return costs;
    }
}
