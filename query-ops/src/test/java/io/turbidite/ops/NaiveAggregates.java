package io.turbidite.ops;

import io.turbidite.core.record.RandomValues;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.aggregate.Aggregate;

import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * What aggregates come to, told over maps of Java values: all values of a group in a list, summed
 * up as decimals. Shares no code with the operators.
 */
final class NaiveAggregates {
    private NaiveAggregates() {}

    /** The rows of all groups, by key; of no fields one row. */
    static List<Map<String, @Nullable Object>> rows(
            RecordType type,
            List<Map<String, @Nullable Object>> records,
            List<String> groupBy,
            List<Aggregate> aggregates) {
        Comparator<List<@Nullable Object>> byKey = (_, _) -> 0;
        for (int i = 0; i < groupBy.size(); i++) {
            int part = i;
            Comparator<@Nullable Object> order = order(type, groupBy.get(i));
            byKey = byKey.thenComparing((a, b) -> order.compare(a.get(part), b.get(part)));
        }
        TreeMap<List<@Nullable Object>, List<Map<String, @Nullable Object>>> groups =
                new TreeMap<>(byKey);
        if (groupBy.isEmpty()) {
            groups.put(List.of(), new ArrayList<>());
        }
        for (Map<String, @Nullable Object> record : records) {
            List<@Nullable Object> key = new ArrayList<>();
            groupBy.forEach(field -> key.add(record.get(field)));
            groups.computeIfAbsent(key, _ -> new ArrayList<>()).add(record);
        }
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (Map.Entry<List<@Nullable Object>, List<Map<String, @Nullable Object>>> group :
                groups.entrySet()) {
            List<@Nullable Object> key = group.getKey();
            Map<String, @Nullable Object> row = new LinkedHashMap<>();
            for (int i = 0; i < groupBy.size(); i++) {
                row.put(groupBy.get(i), plain(key.get(i)));
            }
            for (Aggregate aggregate : aggregates) {
                row.put(aggregate.name(), result(type, group.getValue(), aggregate));
            }
            rows.add(row);
        }
        return rows;
    }

    private static Comparator<@Nullable Object> order(RecordType type, String field) {
        Comparator<@Nullable Object> order =
                RandomValues.order(type.field(type.indexOf(field)).kind());
        return (a, b) -> order.compare(unsigned(a), unsigned(b));
    }

    private static @Nullable Object unsigned(@Nullable Object value) {
        return value instanceof Double d && d == 0 ? 0.0 : value;
    }

    private static @Nullable Object plain(@Nullable Object value) {
        return value instanceof BigDecimal decimal ? decimal.stripTrailingZeros() : unsigned(value);
    }

    private static @Nullable Object result(
            RecordType type, List<Map<String, @Nullable Object>> records, Aggregate aggregate) {
        String field = aggregate.field();
        if (field == null) {
            return (long) records.size();
        }
        List<Object> values = new ArrayList<>();
        for (Map<String, @Nullable Object> record : records) {
            Object value = record.get(field);
            if (value != null) {
                values.add(value);
            }
        }
        TreeSet<@Nullable Object> distinct = new TreeSet<>(order(type, field));
        distinct.addAll(values);
        return switch (aggregate.function()) {
            case COUNT -> (long) values.size();
            case COUNT_DISTINCT -> (long) distinct.size();
            case MIN -> values.isEmpty() ? null : plain(distinct.first());
            case MAX -> values.isEmpty() ? null : plain(distinct.last());
            case ARRAY_AGG -> {
                List<Object> listed = listed(type, records, aggregate);
                yield listed.isEmpty() ? null : listed;
            }
            case STRING_AGG -> {
                List<Object> listed = listed(type, records, aggregate);
                yield listed.isEmpty()
                        ? null
                        : String.join(
                                aggregate.listing().separator(),
                                listed.stream().map(String::valueOf).toList());
            }
            case PERCENTILE_CONT -> values.isEmpty() ? null : median(values);
            case PERCENTILE_DISC -> {
                List<Object> sorted = new ArrayList<>(values);
                sorted.sort(
                        aggregate.listing().order().getFirst().isDescending()
                                ? order(type, field).reversed()
                                : order(type, field));
                BigDecimal part = aggregate.listing().fraction();
                // the first value whose rank is as large a part of all
                int rank = 1;
                while (part.multiply(BigDecimal.valueOf(sorted.size()))
                                .compareTo(BigDecimal.valueOf(rank))
                        > 0) {
                    rank++;
                }
                yield sorted.isEmpty() ? null : plain(sorted.get(rank - 1));
            }
            case SUM, AVG, VAR, STDDEV ->
                number(
                        type.field(type.indexOf(field)).kind(),
                        aggregate.function(),
                        values.stream().map(NaiveAggregates::decimal).toList());
        };
    }

    /** The values of records in the order of a key; equal ones once, where they are first. */
    private static List<Object> listed(
            RecordType type, List<Map<String, @Nullable Object>> records, Aggregate aggregate) {
        Aggregate.Listing listing = aggregate.listing();
        Aggregate.Listing.By by = listing.order().getFirst();
        List<Map<String, @Nullable Object>> sorted = new ArrayList<>(records);
        Comparator<@Nullable Object> order = order(type, by.field());
        sorted.sort((a, b) ->
                (by.isDescending() ? -1 : 1) * order.compare(a.get(by.field()), b.get(by.field())));
        String field = Objects.requireNonNull(aggregate.field());
        TreeSet<@Nullable Object> seen = new TreeSet<>(order(type, field));
        List<Object> values = new ArrayList<>();
        for (Map<String, @Nullable Object> record : sorted) {
            Object value = record.get(field);
            boolean isAsked = listing.condition() == null
                    || (record.get("whole") instanceof Integer whole && whole > 0);
            if (value != null && isAsked && (seen.add(value) || !listing.isDistinct())) {
                values.add(Objects.requireNonNull(plain(value)));
            }
        }
        return values;
    }

    private static double median(List<Object> values) {
        double[] numbers = values.stream()
                .mapToDouble(value -> ((Number) value).doubleValue())
                .sorted()
                .toArray();
        int half = numbers.length / 2;
        return numbers.length % 2 == 1 ? numbers[half] : numbers[half - 1] / 2 + numbers[half] / 2;
    }

    private static BigDecimal decimal(Object value) {
        return switch (value) {
            case Duration d ->
                BigDecimal.valueOf(d.getSeconds())
                        .multiply(BigDecimal.valueOf(1_000_000))
                        .add(BigDecimal.valueOf(d.getNano() / 1_000));
            case BigDecimal d -> d;
            default -> new BigDecimal(value.toString());
        };
    }

    private static @Nullable Object number(
            TypeKind kind, Aggregate.Function function, List<BigDecimal> values) {
        if (values.isEmpty()) {
            return null;
        }
        BigDecimal sum = values.stream().reduce(BigDecimal.ZERO, BigDecimal::add);
        double mean = sum.doubleValue() / values.size();
        return switch (function) {
            case SUM ->
                switch (kind) {
                    case DECIMAL -> sum.stripTrailingZeros();
                    case DOUBLE, FLOAT -> sum.doubleValue();
                    case DURATION -> micros(sum.longValueExact());
                    default -> sum.longValueExact();
                };
            case AVG ->
                kind == TypeKind.DURATION
                        ? micros(Math.floorDiv(sum.longValueExact(), (long) values.size()))
                        : (Object) mean;
            default -> {
                if (values.size() < 2) {
                    yield null;
                }
                double squares = values.stream()
                        .mapToDouble(value -> Math.pow(value.doubleValue() - mean, 2))
                        .sum();
                double variance = squares / (values.size() - 1);
                yield function == Aggregate.Function.VAR ? variance : Math.sqrt(variance);
            }
        };
    }

    private static Duration micros(long micros) {
        return Duration.ofSeconds(
                Math.floorDiv(micros, 1_000_000), Math.floorMod(micros, 1_000_000) * 1_000L);
    }

    /** Whether a row is as expected: doubles as near as rounding leaves them. */
    static boolean isAsExpected(
            Map<String, @Nullable Object> row, Map<String, @Nullable Object> expected) {
        if (!List.copyOf(row.keySet()).equals(List.copyOf(expected.keySet()))) {
            return false;
        }
        for (Map.Entry<String, @Nullable Object> field : expected.entrySet()) {
            if (!isNear(row.get(field.getKey()), field.getValue())) {
                return false;
            }
        }
        return true;
    }

    private static boolean isNear(@Nullable Object actual, @Nullable Object expected) {
        if (actual instanceof Double a && expected instanceof Double e) {
            return a.equals(e) || Math.abs(a - e) <= 1e-9 * Math.max(1e-3, Math.abs(e));
        }
        if (actual instanceof BigDecimal a && expected instanceof BigDecimal e) {
            return a.compareTo(e) == 0;
        }
        if (actual instanceof List<?> a && expected instanceof List<?> e) {
            return a.size() == e.size()
                    && IntStream.range(0, a.size()).allMatch(i -> isNear(a.get(i), e.get(i)));
        }
        return Objects.deepEquals(actual, expected);
    }
}
