package io.turbidite.ops.sql;

import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlUpdate;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.util.SqlBasicVisitor;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Tells names of columns that may be meant as text: {@code origin = "JFK"}, {@code origin = JFK}.
 * Other languages write text between double quotes; SQL writes names so. <em>Confined to one
 * thread.</em>
 */
final class UnquotedText {
    private static final Set<SqlKind> COMPARISONS = EnumSet.of(
            SqlKind.EQUALS,
            SqlKind.NOT_EQUALS,
            SqlKind.LESS_THAN,
            SqlKind.LESS_THAN_OR_EQUAL,
            SqlKind.GREATER_THAN,
            SqlKind.GREATER_THAN_OR_EQUAL,
            SqlKind.IS_DISTINCT_FROM,
            SqlKind.IS_NOT_DISTINCT_FROM,
            SqlKind.LIKE,
            SqlKind.SIMILAR,
            SqlKind.BETWEEN,
            SqlKind.IN,
            SqlKind.NOT_IN);

    private UnquotedText() {}

    /**
     * What to say of an unknown column; empty if no text is wanted at its place.
     *
     * @param statement as it was parsed
     * @param line of the unknown name, from 1
     * @param column from 1
     */
    static String hint(SqlNode statement, String name, int line, int column) {
        Search search = new Search(line, column);
        statement.accept(search);
        return search.found
                ? "; text stands in single quotes: '%s'".formatted(name.replace("'", "''"))
                : "";
    }

    private static final class Search extends SqlBasicVisitor<Void> {
        private final int line;
        private final int column;
        private boolean found;

        Search(int line, int column) {
            this.line = line;
            this.column = column;
        }

        @Override
        public Void visit(SqlCall call) {
            if (COMPARISONS.contains(call.getKind())) {
                List<SqlNode> sides = call.getOperandList();
                boolean isFirst = isMeant(sides.getFirst());
                SqlNode other = isFirst ? sides.get(1) : sides.getFirst();
                // what is compared with a constant is a column
                found |= (isFirst || sides.stream().skip(1).anyMatch(this::isMeant))
                        && !isConstant(other);
            } else if (call.getKind() == SqlKind.ROW) {
                found |= call.getOperandList().stream().anyMatch(this::isMeant);
            } else if (call instanceof SqlUpdate update) {
                found |= isMeant(update.getSourceExpressionList());
            }
            return super.visit(call);
        }

        /** Whether it is the name, or a list that has it. */
        private boolean isMeant(SqlNode node) {
            if (node instanceof SqlNodeList list) {
                return list.stream().anyMatch(this::isMeant);
            }
            SqlParserPos place = node.getParserPosition();
            return node instanceof SqlIdentifier name
                    && name.isSimple()
                    && place.getLineNum() == line
                    && place.getColumnNum() == column;
        }

        private static boolean isConstant(SqlNode node) {
            return node instanceof SqlLiteral
                    || (node instanceof SqlNodeList list
                            && list.stream().allMatch(Search::isConstant));
        }
    }
}
