package io.turbidite.hashlog.psf;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.FieldPath;
import io.turbidite.core.expr.TokenReader;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** Reads the text forms of {@link PsfDefinition}s. */
final class PsfReader {
    private PsfReader() {}

    static PsfDefinition definition(TokenReader reader) {
        int start = reader.position();
        try {
            PsfDefinition definition = kind(reader);
            reader.expect(")");
            return definition;
        } catch (InvalidRequestException e) {
            String message = String.valueOf(e.getMessage());
            throw message.startsWith("at position") ? e : reader.wrongAt(start, message);
        }
    }

    private static PsfDefinition kind(TokenReader reader) {
        if (opens(reader, "field")) {
            return new PsfDefinition.Field(reader.path());
        }
        if (opens(reader, "where")) {
            return new PsfDefinition.Where(Expression.condition(reader));
        }
        if (opens(reader, "bucket")) {
            FieldPath path = reader.path();
            reader.expect(",");
            return new PsfDefinition.Bucket(path, reader.integer(1, Integer.MAX_VALUE));
        }
        if (opens(reader, "ranges")) {
            FieldPath path = reader.path();
            List<BigDecimal> bounds = new ArrayList<>();
            while (reader.accept(",")) {
                bounds.add(reader.number());
            }
            return new PsfDefinition.Ranges(path, bounds);
        }
        if (opens(reader, "prefix")) {
            FieldPath path = reader.path();
            reader.expect(",");
            return new PsfDefinition.Prefix(path, reader.integer(1, Integer.MAX_VALUE));
        }
        if (opens(reader, "function")) {
            String name = reader.name();
            List<FieldPath> paths = new ArrayList<>();
            while (reader.accept(",")) {
                paths.add(reader.path());
            }
            return new PsfDefinition.Function(name, paths);
        }
        throw reader.expected("field(…), where(…), bucket(…), ranges(…), prefix(…) or function(…)");
    }

    private static boolean opens(TokenReader reader, String word) {
        if (!reader.acceptWord(word)) {
            return false;
        }
        reader.expect("(");
        return true;
    }
}
