package io.turbidite.ops.job;

import io.turbidite.ops.job.GraphCheck.Checked;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Draws a graph as text: stages, from the sources to the result. A stage ends where an operator
 * reads all before it gives any, and where rows go to other workers. <em>Confined to one
 * thread.</em>
 */
final class GraphText {
    private final List<Stage> stages = new ArrayList<>();
    private final Map<String, Stage> byOperator = new HashMap<>();

    /** A part of the job that ends before what blocks on it goes on. */
    private static final class Stage {
        final int partitions;
        final List<String> lines = new ArrayList<>();

        Stage(int partitions) {
            this.partitions = partitions;
        }
    }

    private GraphText() {}

    static String of(List<Checked> operators) {
        GraphText text = new GraphText();
        operators.forEach(text::add);
        return text.toString();
    }

    private void add(Checked operator) {
        Stage own = null;
        List<String> reads = new ArrayList<>();
        for (JobConnector connector : operator.inputs()) {
            boolean blocks = operator.kind().blocks(connector.input());
            boolean isSame = connector.kind() == JobConnector.Kind.ONE_TO_ONE;
            Stage from = stage(connector.from());
            if (blocks) {
                Stage of = isSame ? from : open(operator);
                if (!isSame) {
                    of.lines.add("reads " + exchange(connector));
                }
                of.lines.add(
                        "%s takes all of input %d".formatted(operator.name(), connector.input()));
            } else if (isSame) {
                own = own == null ? from : join(own, from);
            } else {
                reads.add("reads " + exchange(connector));
            }
        }
        if (own == null) {
            own = open(operator);
        }
        own.lines.addAll(reads);
        String detail = operator.kind().detail(operator.settings());
        own.lines.add("%s: %s%s"
                .formatted(
                        operator.name(),
                        operator.operator().kind(),
                        detail.isEmpty() ? "" : " " + detail));
        byOperator.put(operator.name(), own);
        JobConnector output = operator.output();
        if (output != null && !operator.isFollowed()) {
            own.lines.add("→ %s to %s".formatted(how(output), output.to()));
        }
    }

    private Stage stage(String operator) {
        return Objects.requireNonNull(byOperator.get(operator), "inputs come first");
    }

    private Stage open(Checked operator) {
        Stage stage = new Stage(operator.operator().partitions());
        stages.add(stage);
        return stage;
    }

    /** One worker reads both. */
    private Stage join(Stage one, Stage other) {
        if (one.equals(other)) {
            return one;
        }
        one.lines.addAll(other.lines);
        stages.remove(other);
        byOperator.replaceAll((_, stage) -> stage.equals(other) ? one : stage);
        return one;
    }

    private static String exchange(JobConnector connector) {
        return "%s, %s".formatted(connector.from(), how(connector));
    }

    private static String how(JobConnector connector) {
        return connector.fields().isEmpty()
                ? connector.kind().label()
                : "%s by %s"
                        .formatted(connector.kind().label(), String.join(", ", connector.fields()));
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < stages.size(); i++) {
            Stage stage = stages.get(i);
            text.append("stage %d on %d partition%s\n"
                    .formatted(i + 1, stage.partitions, stage.partitions == 1 ? "" : "s"));
            stage.lines.forEach(line -> text.append("  ").append(line).append('\n'));
        }
        return text.toString();
    }
}
