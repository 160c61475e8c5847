package io.turbidite.ops.job;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.ops.expr.Given;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * An operator of a job: what it does, and on how many partitions. <em>Immutable.</em>
 *
 * <pre>{@code
 * JobOperator.of("late", "scan").with("dataset", "Flights").with("where", "delay > 30").on(2)
 * }</pre>
 *
 * @param name by which connectors and messages name it; different in a job
 * @param kind what it does: {@code scan}, {@code group}, … or one of the embedder's
 * @param partitions how many instances of it there are, side by side
 * @param settings what the kind needs, as values of JSON: texts, whole numbers, doubles, booleans,
 *     and lists and maps of them
 */
public record JobOperator(String name, String kind, int partitions, Map<String, Object> settings) {
    /** What an operator has beside its settings, by the names that JSON has for them. */
    static final Set<String> RESERVED = Set.of("name", "kind", "partitions");

    private static final int DEPTH_MAX = 32;

    public JobOperator {
        Given.notNull(name, "the name of an operator");
        Given.notNull(kind, "the kind of operator '%s'".formatted(name));
        settings = map(name, "settings", Given.notNull(settings, "the settings"), 0);
        for (String reserved : RESERVED) {
            if (settings.containsKey(reserved)) {
                throw Settings.wrong(name, "no setting can be named '%s'".formatted(reserved));
            }
        }
    }

    /** An operator on one partition without settings. */
    public static JobOperator of(String name, String kind) {
        return new JobOperator(name, kind, 1, Map.of());
    }

    /**
     * The same with a further setting, or another value of one.
     *
     * @throws InvalidRequestException if the value is none of JSON's
     */
    public JobOperator with(String setting, Object value) {
        Map<String, Object> more = new LinkedHashMap<>(settings);
        more.put(setting, Given.notNull(value, "setting '%s'".formatted(setting)));
        return new JobOperator(name, kind, partitions, more);
    }

    /** The same on so many partitions. */
    public JobOperator on(int partitionCount) {
        return new JobOperator(name, kind, partitionCount, settings);
    }

    private static Map<String, Object> map(
            String operator, String path, Map<?, ?> given, int depth) {
        Map<String, Object> copy = new LinkedHashMap<>();
        given.forEach((key, value) ->
                copy.put(String.valueOf(key), value(operator, path + '.' + key, value, depth)));
        return Collections.unmodifiableMap(copy);
    }

    private static Object value(String operator, String path, Object value, int depth) {
        if (depth == DEPTH_MAX) {
            throw new InvalidRequestException("operator '%s': '%s' is nested deeper than %d levels"
                    .formatted(operator, path, DEPTH_MAX));
        }
        return switch (value) {
            case String text -> text;
            case Boolean is -> is;
            case Integer number -> (long) number;
            case Long number -> number;
            case Double number when Double.isFinite(number) -> number;
            case List<?> list -> {
                List<Object> copy = new ArrayList<>(list.size());
                for (Object one : list) {
                    copy.add(value(operator, path, one, depth + 1));
                }
                yield Collections.unmodifiableList(copy);
            }
            case Map<?, ?> fields -> map(operator, path, fields, depth + 1);
            case null, default ->
                throw new InvalidRequestException(
                        "operator '%s': '%s' is %s: give a text, a finite number, true or false, a list or a map of them"
                                .formatted(
                                        operator,
                                        path,
                                        value == null
                                                ? "null"
                                                : "of " + value.getClass().getSimpleName()));
        };
    }
}
