package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.ops.Relation;

import org.apache.calcite.rel.RelRoot;

import java.util.List;
import java.util.Locale;

/** Plans statements: the only class here that is loaded before Calcite is. Static. */
final class Planned {
    private Planned() {}

    static SqlStatement of(List<SourceAndView> sources, StatementText text) {
        try {
            RelRoot root = new Front(sources, text.query()).plan();
            if (root.fields.size() > Sql.COLUMN_COUNT_MAX) {
                throw SqlException.of(String.format(
                        Locale.ROOT,
                        "%,d columns are more than the limit of %,d",
                        root.fields.size(),
                        Sql.COLUMN_COUNT_MAX));
            }
            Relation relation = new Compiler(root.rel.getCluster().getRexBuilder()).compile(root);
            relation.type();
            return new SqlStatement(
                    relation, text, !root.collation.getFieldCollations().isEmpty());
        } catch (SqlException e) {
            throw e;
        } catch (InvalidRequestException e) {
            throw SqlException.of(String.valueOf(e.getMessage()), e);
        } catch (StackOverflowError e) {
            throw SqlException.of("the statement is nested too deeply", e);
        } catch (RuntimeException | AssertionError e) {
            // rules of Calcite fail as they like: a statement of theirs is refused, not a crash
            throw SqlException.of("the statement can't be planned: " + firstLine(e), e);
        }
    }

    private static String firstLine(Throwable e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse(e.toString());
    }
}
