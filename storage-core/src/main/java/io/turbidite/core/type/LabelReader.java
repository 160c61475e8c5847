package io.turbidite.core.type;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the label of a field's type; names the path of what is wrong. <em>Confined to one
 * thread.</em>
 *
 * <pre>
 * label  = ( kind | "[" kind "]" | "{" [ name ":" label { "," name ":" label } ] "}" ) [ "?" ]
 * name   = characters without space and , : { } | "…" | '…'
 * </pre>
 */
final class LabelReader {
    private static final String MARKS = "[]{},:? \t\r\n\"'";

    /** What a store keeps of a type is no longer, in bytes. */
    private static final int LABEL_BYTES_MAX = 65_535;

    private final String name;
    private final String label;
    private int at;

    LabelReader(String name, String label) {
        this.name = name;
        this.label = label;
    }

    Field read() {
        Field field = field(name, name, 1);
        skipSpace();
        if (at < label.length()) {
            throw wrong(name, "unknown type '%s'; %s".formatted(label, TypeKind.labels()));
        }
        return field;
    }

    private Field field(String fieldName, String path, int depth) {
        skipSpace();
        if (takes('{')) {
            RecordType.checkDepth(path, depth + 1);
            List<Field> members = members(path, depth);
            return Field.nested(fieldName, members, takes('?'));
        }
        if (takes('[')) {
            TypeKind element = element(path);
            return Field.array(fieldName, element, takes('?'));
        }
        TypeKind kind = kind(path, word());
        return new Field(fieldName, kind, takes('?'));
    }

    private TypeKind element(String path) {
        skipSpace();
        if (at < label.length() && (label.charAt(at) == '[' || label.charAt(at) == '{')) {
            throw wrong(path, "an array holds values of a simple type, no arrays and no records");
        }
        TypeKind element = kind(path, word());
        skipSpace();
        if (at < label.length() && label.charAt(at) == '?') {
            throw wrong(path, "an element of an array can't be null: leave out the '?' in []");
        }
        require(path, ']');
        return element;
    }

    private List<Field> members(String path, int depth) {
        List<Field> members = new ArrayList<>();
        skipSpace();
        if (takes('}')) {
            return members;
        }
        do {
            skipSpace();
            String member = memberName();
            require(path, ':');
            members.add(field(member, path + '.' + member, depth + 1));
            if (members.size() > Limits.DECLARED_FIELD_COUNT_MAX) {
                throw wrong(path, "there are too many fields");
            }
            skipSpace();
        } while (takes(','));
        require(path, '}');
        return members;
    }

    private String memberName() {
        if (at < label.length() && (label.charAt(at) == '"' || label.charAt(at) == '\'')) {
            char quote = label.charAt(at);
            int end = label.indexOf(quote, at + 1);
            if (end > 0) {
                String quoted = label.substring(at + 1, end);
                at = end + 1;
                return quoted;
            }
        }
        return word();
    }

    private TypeKind kind(String path, String text) {
        // the whole label is what the author knows
        return TypeKind.find(text)
                .orElseThrow(() -> path.equals(name) && !label.startsWith("[")
                        ? new InvalidRequestException("unknown type '%s'; %s"
                                .formatted(withoutMark(label), TypeKind.labels()))
                        : wrong(path, "unknown type '%s'; %s".formatted(text, TypeKind.labels())));
    }

    private static String withoutMark(String label) {
        return label.endsWith("?") ? label.substring(0, label.length() - 1) : label;
    }

    /** Up to the next mark. */
    private String word() {
        int start = at;
        while (at < label.length() && MARKS.indexOf(label.charAt(at)) < 0) {
            at++;
        }
        return label.substring(start, at);
    }

    /** A name as {@link #memberName} reads it. */
    static String quoted(String name) {
        if (name.chars().noneMatch(c -> MARKS.indexOf(c) >= 0)) {
            return name;
        }
        char quote = name.indexOf('"') < 0 ? '"' : '\'';
        return quote + name + quote;
    }

    /** Checks that the type of a nested record can be kept as text. */
    static void checkLength(Field nested) {
        int byteCount = nested.typeLabel().getBytes(StandardCharsets.UTF_8).length;
        if (byteCount > LABEL_BYTES_MAX) {
            throw wrong(
                    nested.name(),
                    "its type has %d bytes as text; the limit is %d"
                            .formatted(byteCount, LABEL_BYTES_MAX));
        }
        checkQuotes(nested, nested.name());
    }

    private static void checkQuotes(Field nested, String path) {
        for (Field member : nested.members()) {
            String inner = path + '.' + member.name();
            if (member.name().indexOf('"') >= 0 && member.name().indexOf('\'') >= 0) {
                throw wrong(inner, "a name has no quotes of both kinds");
            }
            checkQuotes(member, inner);
        }
    }

    private void require(String path, char mark) {
        skipSpace();
        if (!takes(mark)) {
            throw wrong(
                    path,
                    "expected '%s' at character %d of the type %s".formatted(mark, at + 1, label));
        }
    }

    private boolean takes(char mark) {
        boolean is = at < label.length() && label.charAt(at) == mark;
        at += is ? 1 : 0;
        return is;
    }

    private void skipSpace() {
        while (at < label.length() && Character.isWhitespace(label.charAt(at))) {
            at++;
        }
    }

    private static InvalidRequestException wrong(String path, String reason) {
        return new InvalidRequestException("field '%s': %s".formatted(path, reason));
    }
}
