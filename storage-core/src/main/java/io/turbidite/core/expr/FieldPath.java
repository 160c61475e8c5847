package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The way to a field from the top of a record: names of members and indexes of elements.
 * <em>Immutable.</em>
 *
 * <p>Text form: {@code actor.id}, {@code payload.commits[0].sha}, <code>`odd name`.x</code>. A name
 * of letters, digits, {@code _}, {@code $} and {@code -} that does not start with a digit or
 * {@code -} stands as it is; any other stands between grave accents, where a grave accent is
 * doubled.
 */
public record FieldPath(List<Step> steps) {
    /** Deepest path. */
    public static final int STEP_COUNT_MAX = 32;

    /** Longest name, in bytes of UTF-8. */
    public static final int NAME_BYTES_MAX = 255;

    /** Largest index of an element. */
    public static final int ELEMENT_INDEX_MAX = 1_000_000;

    /** One step down. */
    public sealed interface Step {}

    /** To the member {@code name} of an object. */
    public record Name(String name) implements Step {
        public Name {
            int bytes = name.getBytes(StandardCharsets.UTF_8).length;
            if (bytes == 0 || bytes > NAME_BYTES_MAX) {
                throw new InvalidRequestException(
                        "a field name has 1 to %d bytes, not %d".formatted(NAME_BYTES_MAX, bytes));
            }
            if (name.chars().anyMatch(c -> c == '\n' || c == '\r')) {
                throw new InvalidRequestException("a field name has no line ends");
            }
        }
    }

    /** To element {@code index} of an array, from 0. */
    public record Element(int index) implements Step {
        public Element {
            if (index < 0 || index > ELEMENT_INDEX_MAX) {
                throw new InvalidRequestException("an element's index is 0 to %d, not %d"
                        .formatted(ELEMENT_INDEX_MAX, index));
            }
        }
    }

    public FieldPath {
        steps = List.copyOf(steps);
        if (steps.isEmpty() || steps.size() > STEP_COUNT_MAX) {
            throw new InvalidRequestException("a field path has 1 to %d steps, not %d"
                    .formatted(STEP_COUNT_MAX, steps.size()));
        }
        if (!(steps.getFirst() instanceof Name)) {
            throw new InvalidRequestException("a field path starts with a name");
        }
    }

    /**
     * Reads the text form.
     *
     * @throws InvalidRequestException with the position of what is wrong
     */
    public static FieldPath parse(String text) {
        TokenReader reader = new TokenReader(text);
        FieldPath path = reader.path();
        reader.end();
        return path;
    }

    /** The path to a single name, taken as it is. */
    public static FieldPath of(String name) {
        return new FieldPath(List.of(new Name(name)));
    }

    /** The text form, which {@link #parse} reads back. */
    public String text() {
        StringBuilder text = new StringBuilder();
        for (Step step : steps) {
            switch (step) {
                case Name(String name) ->
                    text.append(text.isEmpty() ? "" : ".").append(quote(name));
                case Element(int index) -> text.append('[').append(index).append(']');
            }
        }
        return text.toString();
    }

    static String quote(String name) {
        boolean plain = TokenReader.startsName(name.charAt(0))
                && name.chars().allMatch(c -> TokenReader.continuesName((char) c));
        return plain && !TokenReader.isKeyword(name) ? name : "`" + name.replace("`", "``") + "`";
    }
}
