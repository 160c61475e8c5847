package io.turbidite.hashlog.psf;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.FieldPath;
import io.turbidite.core.expr.TokenReader;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a PSF computes, without its id: a value with a text form that reads back to an equal
 * definition. <em>Immutable.</em> A PSF whose field is missing, null, or of a type it does not take
 * has no value for the record.
 */
public sealed interface PsfDefinition {
    /** Most fields of a function, most bounds of ranges. */
    int LIST_COUNT_MAX = 256;

    /** The value of a field, a string, number or boolean: {@code field(actor.id)}. */
    record Field(FieldPath path) implements PsfDefinition {
        @Override
        public String text() {
            return "field(" + path.text() + ")";
        }

        @Override
        public List<FieldPath> paths() {
            return List.of(path);
        }
    }

    /** 1 if the expression is true, else no value: {@code where(stars > 3 && useful > 5)}. */
    record Where(Expression expression) implements PsfDefinition {
        public Where {
            RecordTests.check(expression);
        }

        @Override
        public String text() {
            return "where(" + expression.text() + ")";
        }

        @Override
        public List<FieldPath> paths() {
            List<FieldPath> paths = new ArrayList<>();
            RecordTests.forEach(expression, (path, _, _) -> paths.add(path));
            return paths.stream().distinct().toList();
        }
    }

    /** The number divided by the width, rounded down: {@code bucket(cpu, 10)} is 3 for 37.5. */
    record Bucket(FieldPath path, int width) implements PsfDefinition {
        public Bucket {
            if (width < 1) {
                throw new InvalidRequestException("a bucket's width is at least 1, not " + width);
            }
        }

        @Override
        public String text() {
            return "bucket(%s, %s)".formatted(path.text(), width);
        }

        @Override
        public List<FieldPath> paths() {
            return List.of(path);
        }
    }

    /**
     * Which of the ranges between ascending bounds holds the number, from 0, lower bounds included:
     * {@code ranges(cpu, 0, 15, 75, 100.5)}. Outside of them there is no value.
     */
    record Ranges(FieldPath path, List<BigDecimal> bounds) implements PsfDefinition {
        public Ranges {
            bounds = bounds.stream().map(BigDecimal::stripTrailingZeros).toList();
            if (bounds.size() < 2 || bounds.size() > LIST_COUNT_MAX) {
                throw new InvalidRequestException("ranges have 2 to %d bounds, not %d"
                        .formatted(LIST_COUNT_MAX, bounds.size()));
            }
            for (int i = 1; i < bounds.size(); i++) {
                if (bounds.get(i - 1).compareTo(bounds.get(i)) >= 0) {
                    throw new InvalidRequestException(
                            "the bounds of ranges ascend, but %s comes before %s"
                                    .formatted(bounds.get(i - 1), bounds.get(i)));
                }
            }
        }

        @Override
        public String text() {
            return "ranges(%s, %s)"
                    .formatted(
                            path.text(),
                            bounds.stream()
                                    .map(BigDecimal::toString)
                                    .collect(Collectors.joining(", ")));
        }

        @Override
        public List<FieldPath> paths() {
            return List.of(path);
        }
    }

    /** The first characters (code points) of a string: {@code prefix(repo.name, 8)}. */
    record Prefix(FieldPath path, int charCount) implements PsfDefinition {
        public Prefix {
            if (charCount < 1) {
                throw new InvalidRequestException(
                        "a prefix has at least 1 character, not " + charCount);
            }
        }

        @Override
        public String text() {
            return "prefix(%s, %s)".formatted(path.text(), charCount);
        }

        @Override
        public List<FieldPath> paths() {
            return List.of(path);
        }
    }

    /** A user's function of some fields: {@code function(domain, actor.email)}. */
    record Function(String name, List<FieldPath> paths) implements PsfDefinition {
        public Function {
            paths = List.copyOf(paths);
            new FieldPath.Name(name);
            if (paths.isEmpty() || paths.size() > LIST_COUNT_MAX) {
                throw new InvalidRequestException("a function has 1 to %d fields, not %d"
                        .formatted(LIST_COUNT_MAX, paths.size()));
            }
        }

        @Override
        public String text() {
            return "function(%s, %s)"
                    .formatted(
                            FieldPath.of(name).text(),
                            paths.stream().map(FieldPath::text).collect(Collectors.joining(", ")));
        }
    }

    /** The text form: what the durable registry keeps, and what {@link #parse} reads. */
    String text();

    /** The fields it looks at, each once for all kinds but functions. */
    List<FieldPath> paths();

    /**
     * Reads a text form.
     *
     * @throws InvalidRequestException with the position of what is wrong
     */
    static PsfDefinition parse(String text) {
        TokenReader reader = new TokenReader(text);
        PsfDefinition definition = PsfReader.definition(reader);
        reader.end();
        return definition;
    }
}
