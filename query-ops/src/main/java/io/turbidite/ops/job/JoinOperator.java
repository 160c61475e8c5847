package io.turbidite.ops.job;

import io.turbidite.core.NearestName;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.join.JoinKind;
import io.turbidite.ops.plan.JoinPlan;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** A hash join: input 0 is probed, input 1 goes into the table. */
final class JoinOperator implements OperatorKind {
    @Override
    public List<String> settings() {
        return List.of("type", "on", "where");
    }

    @Override
    public int inputsMin() {
        return 2;
    }

    @Override
    public int inputsMax() {
        return 2;
    }

    @Override
    public boolean blocks(int input) {
        return input == 1;
    }

    @Override
    public boolean keepsRows() {
        return true;
    }

    @Override
    public RecordType type(Settings settings, List<RecordType> inputs, JobParts parts) {
        return JoinPlan.rowType(inputs.get(0), inputs.get(1), request(settings));
    }

    /** What is asked of both inputs. */
    static JoinPlan.Request request(Settings settings) {
        List<JoinPlan.Equal> on = new ArrayList<>();
        for (String text : settings.texts("on")) {
            int at = text.indexOf('=');
            on.add(
                    at < 0
                            ? new JoinPlan.Equal(text.strip(), text.strip())
                            : new JoinPlan.Equal(
                                    text.substring(0, at).strip(),
                                    text.substring(at + 1).strip()));
        }
        String where = settings.textOrNull("where");
        return new JoinPlan.Request(
                kind(settings),
                on,
                where == null
                        ? List.of()
                        : List.of(Expression.condition(where, Expression.Grammar.FIELDS)),
                false,
                false);
    }

    private static JoinKind kind(Settings settings) {
        String label = Objects.requireNonNullElse(settings.textOrNull("type"), "inner");
        List<String> labels =
                Arrays.stream(JoinKind.values()).map(JoinOperator::label).toList();
        int index = labels.indexOf(label);
        if (index < 0) {
            throw settings.wrong("there is no join of type '%s'%s; types are %s"
                    .formatted(label, NearestName.hint(label, labels), String.join(", ", labels)));
        }
        return List.of(JoinKind.values()).get(index);
    }

    private static String label(JoinKind kind) {
        return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    @Override
    public void checkPartitions(Settings settings, List<Layout> inputs) {
        if (settings.operator().partitions() == 1) {
            return;
        }
        JoinPlan.Request asked = request(settings);
        boolean eitherSide = asked.kind() != JoinKind.FULL && asked.kind() != JoinKind.NOT_IN;
        if (inputs.get(1).isOnAll()) {
            if (!eitherSide || inputs.get(0).isOnAll()) {
                throw settings.wrong(
                        "a %s join on several partitions finds rows twice if they are broadcast to it here"
                                .formatted(label(asked.kind())));
            }
            return;
        }
        List<String> left = inputs.get(0).hashedBy();
        List<String> right = inputs.get(1).hashedBy();
        if (asked.kind() == JoinKind.NOT_IN || !meet(asked.on(), left, right)) {
            throw settings.wrong(
                    "rows that meet must be on one partition: let hash connectors by the fields of 'on' lead to both inputs, or a broadcast connector to input 1");
        }
    }

    /** Whether both sides are hashed by fields that must be equal, in the same order. */
    private static boolean meet(
            List<JoinPlan.Equal> on, @Nullable List<String> left, @Nullable List<String> right) {
        if (left == null || right == null || left.size() != right.size()) {
            return false;
        }
        for (int i = 0; i < left.size(); i++) {
            if (!on.contains(new JoinPlan.Equal(left.get(i), right.get(i)))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public Layout layout(Settings settings, List<Layout> inputs, RecordType type) {
        return request(settings).kind() == JoinKind.FULL
                ? Layout.NONE
                : new Layout(List.of(), inputs.getFirst().hashedBy(), false).within(type);
    }

    @Override
    public String detail(Settings settings) {
        String on = String.join(" and ", settings.texts("on"));
        String where = settings.textOrNull("where");
        return "%s on %s%s"
                .formatted(label(kind(settings)), on, where == null ? "" : " where " + where);
    }
}
