package io.turbidite.ops.sql;

import java.util.List;
import java.util.SplittableRandom;

/**
 * Conditions of three-valued logic over some columns; each can be worked out for every row.
 *
 * @param numbers columns and constants that are numbers
 * @param texts those that are texts
 * @param truths those that are truth values
 */
record RandomConditions(List<String> numbers, List<String> texts, List<String> truths) {
    private static final List<String> SIGNS = List.of("=", "<>", "<", "<=", ">", ">=");

    String next(SplittableRandom random, int depth) {
        if (depth > 0 && random.nextInt(3) > 0) {
            String left = next(random, depth - 1);
            return switch (random.nextInt(5)) {
                case 0 -> "(%s and %s)".formatted(left, next(random, depth - 1));
                case 1 -> "(%s or %s)".formatted(left, next(random, depth - 1));
                case 2 -> "not (%s)".formatted(left);
                case 3 -> "(%s) is true".formatted(left);
                default ->
                    "case when %s then %s else %s end"
                            .formatted(left, one(random, truths), next(random, depth - 1));
            };
        }
        List<String> of = random.nextInt(3) > 0 ? numbers : texts;
        String a = one(random, of);
        String b = one(random, of);
        return switch (random.nextInt(7)) {
            case 0 -> a + " is null";
            case 1 -> "%s between %s and %s".formatted(a, b, one(random, of));
            case 2 -> "%s in (%s, %s)".formatted(a, b, one(random, of));
            case 3 -> one(random, truths);
            case 4 -> "%s is not distinct from %s".formatted(a, b);
            default -> "%s %s %s".formatted(a, one(random, SIGNS), b);
        };
    }

    private static String one(SplittableRandom random, List<String> of) {
        return of.get(random.nextInt(of.size()));
    }
}
