package io.turbidite.hashlog.parse;

import io.turbidite.core.expr.FieldPath;

/** A column of {@link ParserSpec.Csv}. <em>Immutable.</em> */
public record CsvColumn(String name, ColumnType type) {
    public CsvColumn {
        // the rules of names
        new FieldPath.Name(name);
    }

    String text() {
        String quoted = FieldPath.of(name).text();
        return type == ColumnType.TEXT ? quoted : quoted + ":" + type.text();
    }
}
