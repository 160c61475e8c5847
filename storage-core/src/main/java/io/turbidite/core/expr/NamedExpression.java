package io.turbidite.core.expr;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * A value and the name that it is given: {@code arr_delay - dep_delay as lost}. <em>Immutable.</em>
 *
 * @param name null: none is given
 */
public record NamedExpression(
        Expression expression, @Nullable String name) {
    /**
     * Reads {@code expression [as name]}, in the grammar of flat records.
     *
     * @throws InvalidRequestException with the position of what is wrong
     */
    public static NamedExpression of(String text) {
        TokenReader reader = new TokenReader(text, true);
        Expression value = new ExpressionReader(reader, Expression.Grammar.FIELDS).value();
        String name = reader.acceptWord("as") ? reader.name() : null;
        reader.end();
        return new NamedExpression(value, name);
    }

    /**
     * The parts between the commas of a list that stand in no parentheses and no quotes; without
     * the blanks around them.
     */
    public static List<String> split(String list) {
        List<String> parts = new ArrayList<>();
        int depth = 0;
        int start = 0;
        char quote = 0;
        for (int i = 0; i < list.length(); i++) {
            char c = list.charAt(i);
            if (quote != 0) {
                i += c == '\\' && quote == '"' ? 1 : 0;
                quote = c == quote ? 0 : quote;
            } else if (c == '\'' || c == '"' || c == '`') {
                quote = c;
            } else if (c == '(') {
                depth++;
            } else if (c == ')') {
                depth--;
            } else if (c == ',' && depth == 0) {
                parts.add(list.substring(start, i).strip());
                start = i + 1;
            }
        }
        parts.add(list.substring(start).strip());
        return parts;
    }
}
