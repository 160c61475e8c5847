package io.turbidite.lsm.merge;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.memory.ByteSize;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A merge policy as a definition names it: kind and parameters, with or without
 * {@code correlated-}. Immutable.
 *
 * <pre>{@code
 * MergePolicySpec.parse("correlated-prefix", Map.of("toleranceCount", 5));
 * MergePolicySpec.parse("tiering(sizeRatio=3, mergeCountMin=2, mergeableBytesMax=1GiB)");
 * }</pre>
 *
 * <p>{@link #toString()} is the canonical text, which {@link #parse(String)} reads back; the
 * manifest keeps it.
 *
 * @param policy what decides
 * @param isCorrelated whether the primary index decides for all indexes of its partition (ALS15's
 *     correlated-prefix, for any policy); otherwise each index decides for itself
 */
public record MergePolicySpec(MergePolicy policy, boolean isCorrelated) {
    private static final String CORRELATED = "correlated-";
    private static final long MERGEABLE_BYTES_DEFAULT = 1L << 30;

    /** The kinds, with the parameters of each. */
    private enum Kind {
        NO_MERGE("no-merge"),
        CONSTANT("constant", "componentCountMax"),
        PREFIX("prefix", "mergeableBytesMax", "toleranceCount"),
        TIERING("tiering", "sizeRatio", "mergeCountMin", "mergeableBytesMax"),
        LEVELING("leveling", "sizeRatio"),
        LAZY_LEVELING("lazy-leveling", "sizeRatio"),
        CONCURRENT("concurrent", "sizeRatio", "mergeCountMin", "mergeCountMax");

        private final String text;

        @SuppressWarnings("ImmutableEnumChecker") // made by List.of
        private final List<String> parameters;

        Kind(String text, String... parameters) {
            this.text = text;
            this.parameters = List.of(parameters);
        }
    }

    /**
     * Four components of a size make one. LUO19 §6.1 takes 1.2, which writes twice as much in
     * merges and leaves one component less to search.
     */
    private static final double SIZE_RATIO_DEFAULT = 3;

    /** The default of a dataset: tiering. */
    public static MergePolicySpec standard() {
        return new MergePolicySpec(
                new TieringMergePolicy(SIZE_RATIO_DEFAULT, 2, MERGEABLE_BYTES_DEFAULT), false);
    }

    /** The kinds that {@link #parse} takes, each also with {@code correlated-} before it. */
    public static List<String> kinds() {
        return Arrays.stream(Kind.values()).map(kind -> kind.text).toList();
    }

    /**
     * A policy by kind. Missing parameters have their defaults.
     *
     * @param parameters numbers, or texts that say a number; bytes also as {@code 1GiB}
     * @throws InvalidRequestException if there is no such kind or parameter, or a value is no
     *     number or out of range; the message starts with the name of the parameter, or with {@code
     *     kind}
     */
    public static MergePolicySpec parse(String kind, Map<String, ?> parameters) {
        boolean correlated = kind.startsWith(CORRELATED);
        Kind known = kindOf(kind, correlated ? kind.substring(CORRELATED.length()) : kind);
        for (String name : parameters.keySet()) {
            if (!known.parameters.contains(name)) {
                throw new InvalidRequestException(
                        "%s: merge policy %s has no such parameter (it takes %s)"
                                .formatted(
                                        name,
                                        kind,
                                        known.parameters.isEmpty()
                                                ? "none"
                                                : String.join(", ", known.parameters)));
            }
        }
        Values values = new Values(parameters);
        MergePolicy policy = switch (known) {
            case NO_MERGE -> new NoMergePolicy();
            case CONSTANT -> new ConstantMergePolicy(values.count("componentCountMax", 5));
            case PREFIX ->
                new PrefixMergePolicy(
                        values.bytes("mergeableBytesMax", MERGEABLE_BYTES_DEFAULT),
                        values.count("toleranceCount", 5));
            case TIERING ->
                new TieringMergePolicy(
                        values.ratio("sizeRatio", SIZE_RATIO_DEFAULT),
                        values.count("mergeCountMin", 2),
                        values.bytes("mergeableBytesMax", MERGEABLE_BYTES_DEFAULT));
            case LEVELING -> new LevelingMergePolicy(values.count("sizeRatio", 10));
            case LAZY_LEVELING -> new LazyLevelingMergePolicy(values.count("sizeRatio", 4));
            case CONCURRENT ->
                new ConcurrentMergePolicy(
                        values.ratio("sizeRatio", 1.2),
                        values.count("mergeCountMin", 3),
                        values.count("mergeCountMax", 10));
        };
        return new MergePolicySpec(policy, correlated);
    }

    /** A policy from its text: {@code kind}, or {@code kind(name=value, …)}. */
    public static MergePolicySpec parse(String text) {
        int open = text.indexOf('(');
        if (open < 0) {
            return parse(text.strip(), Map.of());
        }
        String stripped = text.strip();
        if (!stripped.endsWith(")")) {
            throw new InvalidRequestException(
                    "kind: merge policy '%s' lacks the closing parenthesis".formatted(text));
        }
        Map<String, String> parameters = new LinkedHashMap<>();
        String inside = text.substring(open + 1, text.lastIndexOf(')'));
        for (String pair : inside.isBlank() ? new String[0] : inside.split(",", -1)) {
            int equals = pair.indexOf('=');
            if (equals < 0) {
                throw new InvalidRequestException(
                        "kind: '%s' in merge policy '%s' is not of the form name=value"
                                .formatted(pair.strip(), text));
            }
            String name = pair.substring(0, equals).strip();
            if (parameters.put(name, pair.substring(equals + 1).strip()) != null) {
                throw new InvalidRequestException(
                        "%s: given twice in merge policy '%s'".formatted(name, text));
            }
        }
        return parse(text.substring(0, open).strip(), parameters);
    }

    /** The kind as definitions name it, with {@code correlated-} if it is correlated. */
    public String kind() {
        Kind kind = switch (policy) {
            case NoMergePolicy _ -> Kind.NO_MERGE;
            case ConstantMergePolicy _ -> Kind.CONSTANT;
            case PrefixMergePolicy _ -> Kind.PREFIX;
            case TieringMergePolicy _ -> Kind.TIERING;
            case LevelingMergePolicy _ -> Kind.LEVELING;
            case LazyLevelingMergePolicy _ -> Kind.LAZY_LEVELING;
            case ConcurrentMergePolicy _ -> Kind.CONCURRENT;
        };
        return (isCorrelated ? CORRELATED : "") + kind.text;
    }

    /** All parameters with their values as texts, in a fixed order; includes defaults. */
    public Map<String, String> parameters() {
        Map<String, String> values = new LinkedHashMap<>();
        switch (policy) {
            case NoMergePolicy _ -> {}
            case ConstantMergePolicy constant ->
                values.put("componentCountMax", "" + constant.componentCountMax());
            case PrefixMergePolicy prefix -> {
                values.put("mergeableBytesMax", ByteSize.format(prefix.mergeableBytesMax()));
                values.put("toleranceCount", "" + prefix.toleranceCount());
            }
            case TieringMergePolicy tiering -> {
                values.put("sizeRatio", "" + tiering.sizeRatio());
                values.put("mergeCountMin", "" + tiering.mergeCountMin());
                values.put("mergeableBytesMax", ByteSize.format(tiering.mergeableBytesMax()));
            }
            case LevelingMergePolicy leveling -> values.put("sizeRatio", "" + leveling.sizeRatio());
            case LazyLevelingMergePolicy lazy -> values.put("sizeRatio", "" + lazy.sizeRatio());
            case ConcurrentMergePolicy concurrent -> {
                values.put("sizeRatio", "" + concurrent.sizeRatio());
                values.put("mergeCountMin", "" + concurrent.mergeCountMin());
                values.put("mergeCountMax", "" + concurrent.mergeCountMax());
            }
        }
        return values;
    }

    @Override
    public String toString() {
        Map<String, String> values = parameters();
        if (values.isEmpty()) {
            return kind();
        }
        return values.entrySet().stream()
                .map(value -> value.getKey() + "=" + value.getValue())
                .collect(Collectors.joining(", ", kind() + "(", ")"));
    }

    private static Kind kindOf(String asked, String plain) {
        for (Kind kind : Kind.values()) {
            if (kind.text.equals(plain)) {
                return kind;
            }
        }
        throw new InvalidRequestException(
                "kind: there is no merge policy '%s' (there are %s, each also with '%s' before it)"
                        .formatted(asked, String.join(", ", kinds()), CORRELATED));
    }

    /** Parameter values, read by their purpose. */
    private record Values(Map<String, ?> given) {
        int count(String name, int otherwise) {
            Object value = given.get(name);
            if (value == null) {
                return otherwise;
            }
            try {
                return Integer.parseInt(value.toString().strip());
            } catch (NumberFormatException e) {
                throw new InvalidRequestException(
                        "%s: '%s' is not a whole number".formatted(name, value), e);
            }
        }

        long bytes(String name, long otherwise) {
            Object value = given.get(name);
            return value == null ? otherwise : ByteSize.parse(name, value.toString());
        }

        double ratio(String name, double otherwise) {
            Object value = given.get(name);
            if (value == null) {
                return otherwise;
            }
            try {
                return Double.parseDouble(value.toString().strip());
            } catch (NumberFormatException e) {
                throw new InvalidRequestException(
                        "%s: '%s' is not a number".formatted(name, value), e);
            }
        }
    }
}
