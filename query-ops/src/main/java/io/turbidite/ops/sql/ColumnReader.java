package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.type.Field;
import io.turbidite.ops.sql.Tokens.Kind;
import io.turbidite.ops.sql.Tokens.Token;

import org.jspecify.annotations.Nullable;

import java.util.Locale;
import java.util.Map;

/**
 * Reads a column of {@code CREATE DATASET}: its name, its type, and whether it may be null or is
 * the primary key.
 *
 * <p>A type is in the words of feed definitions or in those of SQL. In both a column may be null
 * unless {@code NOT NULL} or {@code PRIMARY KEY} says otherwise, as everywhere in SQL; a {@code ?}
 * says what holds without it. Lengths and precisions are read and mean nothing: no field has one.
 * <em>Used once.</em>
 */
final class ColumnReader {
    /** Words of SQL and the labels that they mean. */
    private static final Map<String, String> LABELS = Map.ofEntries(
            Map.entry("boolean", "bool"),
            Map.entry("decimal", "decimal"),
            Map.entry("double", "double"),
            Map.entry("float", "float"),
            Map.entry("date", "date"),
            Map.entry("time", "time"),
            Map.entry("timestamptz", "datetime"),
            Map.entry("tinyint", "int8"),
            Map.entry("smallint", "int16"),
            Map.entry("int", "int32"),
            Map.entry("integer", "int32"),
            Map.entry("bigint", "int64"),
            Map.entry("real", "float"),
            Map.entry("numeric", "decimal"),
            Map.entry("varchar", "string"),
            Map.entry("text", "string"),
            Map.entry("varbinary", "bytes"),
            Map.entry("bytea", "bytes"),
            Map.entry("timestamp", "datetime"));

    private final Tokens tokens;
    private final Token name;
    private boolean isKey;
    private boolean isNullableUnsaid;
    private @Nullable Boolean isNullable;

    /**
     * @param tokens at the column's name
     */
    ColumnReader(Tokens tokens) {
        this.tokens = tokens;
        this.name = tokens.name("a field");
    }

    /** Whether {@code PRIMARY KEY} stood behind the type; after {@link #read}. */
    boolean isKey() {
        return isKey;
    }

    /** Whether it may be null because nothing was said: a key of the dataset may not. */
    boolean isNullableUnsaid() {
        return isNullableUnsaid;
    }

    /** The field; what follows is a comma or the end of the list. */
    Field read() {
        Token first = tokens.peek();
        @Nullable String label = sqlLabel();
        if (label == null) {
            label = label(first);
        }
        constraints();
        String asked = label;
        try {
            Field field = Field.parse(name.text(), asked);
            isNullableUnsaid = isNullable == null && !field.optional();
            return field.as(name.text(), isNullable == null || isNullable);
        } catch (InvalidRequestException e) {
            throw tokens.at(String.valueOf(e.getMessage()), first);
        }
    }

    /** The label of a type in words of SQL, which are taken; null if it is none. */
    private @Nullable String sqlLabel() {
        String label = null;
        if (tokens.isNext("double", "precision")) {
            tokens.require("double");
            label = "double";
        } else if (tokens.peek().kind() == Kind.WORD) {
            label = LABELS.get(tokens.peek().text().toLowerCase(Locale.ROOT));
        }
        if (label == null) {
            return null;
        }
        var _ = tokens.next();
        if (tokens.takesSign("(")) {
            do {
                var _ = tokens.number();
            } while (tokens.takesSign(","));
            tokens.requireSign(")");
        }
        if (tokens.takes("array")) {
            label = "[" + label + "]";
        }
        return tokens.takesSign("?") ? label + "?" : label;
    }

    /** A type as feed definitions have it. */
    private String label(Token first) {
        int depth = 0;
        int end = first.start();
        while (depth > 0 || !isEnd()) {
            Token token = tokens.next();
            if (token.kind() == Kind.END) {
                break;
            }
            if (token.kind() == Kind.SIGN) {
                depth += switch (token.text()) {
                    case "(", "[", "{" -> 1;
                    case ")", "]", "}" -> -1;
                    default -> 0;
                };
            }
            end = token.end();
        }
        if (end == first.start()) {
            tokens.expect("a type");
            throw tokens.wrong();
        }
        String label = tokens.between(first.start(), end);
        // names inside records keep their case
        return first.kind() == Kind.WORD ? label.toLowerCase(Locale.ROOT) : label;
    }

    private boolean isEnd() {
        Token token = tokens.peek();
        return switch (token.kind()) {
            case END -> true;
            case SIGN -> token.text().equals(",") || token.text().equals(")");
            case WORD ->
                tokens.isNext("not", "null")
                        || tokens.isNext("primary", "key")
                        || token.text().equalsIgnoreCase("null");
            default -> false;
        };
    }

    private void constraints() {
        while (true) {
            Token at = tokens.peek();
            if (tokens.takes("not")) {
                tokens.require("null");
                say(false, at);
            } else if (tokens.takes("null")) {
                say(true, at);
            } else if (tokens.takes("primary")) {
                tokens.require("key");
                isKey = true;
                say(false, at);
            } else {
                return;
            }
        }
    }

    private void say(boolean nullable, Token at) {
        if (isNullable != null && isNullable != nullable) {
            throw tokens.at("'%s' can't both be null and not be null".formatted(name.text()), at);
        }
        isNullable = nullable;
    }
}
