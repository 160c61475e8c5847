package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.expr.Values;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.ValueParser;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.feeds.flow.FeedMeters;
import io.turbidite.feeds.parse.FunctionFailedException;
import io.turbidite.feeds.parse.RecordFunction;
import io.turbidite.feeds.parse.Transform;
import io.turbidite.feeds.parse.Transform.Way;
import io.turbidite.feeds.parse.TransformAids;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The functions and look-ups of a feed's transforms. All look-ups of a batch show one moment of the
 * store, and each key is got once for it.
 *
 * <p>Memory: {@value #FOUND_COUNT_MAX} values, of which those kept have at most {@value
 * #FOUND_CHARS_MAX} characters. <em>Confined to the thread of one parse
 * worker</em>.
 */
final class FeedAids implements TransformAids {
    private static final int FOUND_COUNT_MAX = 4_096;
    private static final int FOUND_CHARS_MAX = 1_024;

    private final Store store;
    private final FeedMeters meters;
    private final Map<String, RecordFunction> functions = new HashMap<>();
    private final FunctionFailures failures;

    private final Map<Wanted, Found> found = new HashMap<>();
    private final Map<String, ReadView> views = new HashMap<>();
    private final ByteSink record = new ByteSink(64, Limits.RECORD_BYTES_MAX + 64);
    private @Nullable Snapshot snapshot;

    /** What is looked up. */
    private record Wanted(String dataset, String field, List<Object> key) {}

    /** What was found; nothing is found too. */
    private record Found(@Nullable Object value) {}

    /**
     * Those that the transforms of a definition need.
     *
     * @param failures of all workers of the feed
     */
    FeedAids(FeedDefinition definition, Store store, FeedMeters meters, FunctionFailures failures) {
        this.failures = failures;
        this.store = store;
        this.meters = meters;
        boolean calls = definition.transforms().stream()
                .anyMatch(transform -> transform.way() instanceof Way.Function);
        if (calls) {
            functions.putAll(RecordFunctions.load());
        }
    }

    /**
     * Checks what a definition looks up.
     *
     * @throws DefinitionException if the store has no such dataset, or it no such field
     */
    static void check(FeedDefinition definition, Store store) {
        for (Transform transform : definition.transforms()) {
            if (transform.way() instanceof Way.LookUp(String dataset, String field)) {
                String key = "transform." + transform.field();
                Dataset there = store.findDataset(dataset);
                if (there == null) {
                    throw definition.problem(
                            key, "looks up in dataset %s, which is not there".formatted(dataset));
                }
                if (there.type().indexOf(field) < 0) {
                    throw definition.problem(
                            key,
                            "looks up field '%s', which dataset %s does not declare"
                                    .formatted(field, dataset));
                }
                int parts = there.primaryKey().size();
                if (transform.texts().size() != parts) {
                    throw definition.problem(
                            key,
                            "has a key of %d parts; that of dataset %s has %d: %s"
                                    .formatted(
                                            transform.texts().size(),
                                            dataset,
                                            parts,
                                            String.join(", ", there.primaryKey())));
                }
            }
        }
    }

    @Override
    public @Nullable Object call(String name, List<@Nullable Object> arguments) {
        RecordFunction function = functions.get(name);
        if (function == null) {
            throw new InvalidRequestException("there is no function '%s'".formatted(name));
        }
        long begun = meters.nanos();
        try {
            Object result = function.apply(arguments);
            failures.succeeded(name);
            return result;
        } catch (RuntimeException e) {
            failures.failed(name, e);
            throw new FunctionFailedException(name, e);
        } finally {
            meters.functionCalled(meters.nanos() - begun);
        }
    }

    /**
     * To be asked behind each record that failed.
     *
     * @throws FunctionPauseException if a function has failed for too many in a row
     */
    void checkFunctions() {
        failures.check();
    }

    @Override
    public @Nullable Object lookUp(String dataset, String field, List<Object> key) {
        Wanted wanted = new Wanted(dataset, field, key);
        Found before = found.get(wanted);
        if (before != null) {
            return before.value;
        }
        Object value = get(dataset, field, key);
        if (found.size() < FOUND_COUNT_MAX && isSmall(value)) {
            found.put(wanted, new Found(value));
        }
        return value;
    }

    private static boolean isSmall(@Nullable Object value) {
        return value instanceof String text
                ? text.length() <= FOUND_CHARS_MAX
                : !(value instanceof byte[]);
    }

    private @Nullable Object get(String name, String field, List<Object> key) {
        Dataset dataset = store.dataset(name);
        RecordType type = dataset.type();
        List<Object> parts = new ArrayList<>(key.size());
        for (int i = 0; i < key.size(); i++) {
            TypeKind kind =
                    type.field(type.indexOf(dataset.primaryKey().get(i))).kind();
            String text = Values.text(key.get(i));
            parts.add(kind == TypeKind.STRING ? text : ValueParser.parse(kind, text));
        }
        Snapshot moment = snapshot;
        if (moment == null) {
            moment = store.openSnapshot();
            snapshot = moment;
        }
        ReadView view = views.get(name);
        if (view == null) {
            view = moment.view(dataset);
            views.put(name, view);
        }
        byte[] encoded = dataset.primaryKeySpec().encode(parts.toArray());
        if (!view.get(Slice.of(encoded), record)) {
            return null;
        }
        int declared = type.indexOf(field);
        RecordView found = new RecordView(type).wrap(record.asSlice(new Slice()));
        return found.isAbsent(declared) ? null : found.get(declared);
    }

    /** What is looked up from now on is of another moment, and of another batch. */
    void endBatch() {
        found.clear();
        views.clear();
        Snapshot last = snapshot;
        snapshot = null;
        if (last != null) {
            last.close();
        }
    }
}
