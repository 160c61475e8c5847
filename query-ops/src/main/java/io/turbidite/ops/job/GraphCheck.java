package io.turbidite.ops.job;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.NearestName;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.job.OperatorKind.Layout;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Checks a graph, once, when it is built:
 *
 * <ol>
 *   <li>each operator by itself: name, kind, partitions, settings that the kind knows;
 *   <li>connectors: both ends are there, each port is used once, none is left over;
 *   <li>no cycle, one result, and everything leads to it;
 *   <li>from the sources on: types, what connectors need of the rows, and whether rows that belong
 *       together meet on one partition;
 *   <li>constraints.
 * </ol>
 *
 * <em>Confined to one thread.</em>
 */
final class GraphCheck {
    private static final int OPERATOR_COUNT_MAX = 1_000;
    private static final int PARTITION_COUNT_MAX = 1_024;
    private static final int NAME_CHARS_MAX = 100;

    private final JobParts parts;
    private final Map<String, Node> nodes = new LinkedHashMap<>();

    /** An operator under check. */
    private static final class Node {
        final Settings settings;
        final OperatorKind kind;
        final Map<Integer, JobConnector> inputs = new HashMap<>();

        @Nullable
        JobConnector output;

        Node(Settings settings, OperatorKind kind) {
            this.settings = settings;
            this.kind = kind;
        }

        JobOperator operator() {
            return settings.operator();
        }

        String name() {
            return operator().name();
        }
    }

    /**
     * An operator of a graph that was checked. <em>Immutable.</em>
     *
     * @param inputs the connector of each input
     * @param output null: it is the result
     * @param type of its rows
     */
    record Checked(
            JobOperator operator,
            OperatorKind kind,
            List<JobConnector> inputs,
            @Nullable JobConnector output,
            RecordType type) {
        Checked {
            inputs = List.copyOf(inputs);
        }

        String name() {
            return operator.name();
        }

        Settings settings() {
            return new Settings(operator);
        }

        /** Whether what it gives is read by the worker that makes it. */
        boolean isFollowed() {
            return output != null && output.kind() == JobConnector.Kind.ONE_TO_ONE;
        }
    }

    private GraphCheck(JobParts parts) {
        this.parts = parts;
    }

    /** The operators of a graph, each behind those that it reads. */
    static List<Checked> check(
            List<JobOperator> operators,
            List<JobConnector> connectors,
            List<JobConstraint> constraints,
            JobParts parts) {
        GraphCheck check = new GraphCheck(parts);
        check.operators(operators);
        connectors.forEach(check::connector);
        check.nodes.values().forEach(GraphCheck::checkPorts);
        List<Node> ordered = check.inOrder();
        check.checkResult();
        List<Checked> checked = check.types(ordered);
        check.constraints(constraints);
        return checked;
    }

    // ---- operators by themselves ----------------------------------------------------------------

    private void operators(List<JobOperator> operators) {
        if (operators.isEmpty()) {
            throw new InvalidRequestException("a job needs operators, and one of them a result");
        }
        if (operators.size() > OPERATOR_COUNT_MAX) {
            throw new InvalidRequestException("a job of %d operators is above the limit of %d"
                    .formatted(operators.size(), OPERATOR_COUNT_MAX));
        }
        for (JobOperator operator : operators) {
            Settings settings = new Settings(operator);
            checkName(settings);
            OperatorKind kind = kind(settings);
            if (operator.partitions() < 1 || operator.partitions() > PARTITION_COUNT_MAX) {
                throw settings.wrong("%d partitions: there are 1 to %d"
                        .formatted(operator.partitions(), PARTITION_COUNT_MAX));
            }
            if (!(kind instanceof OperatorKinds.OwnOperator)) {
                settings.checkKnown(kind.settings());
            }
            if (nodes.put(operator.name(), new Node(settings, kind)) != null) {
                throw settings.wrong("two operators have this name");
            }
        }
    }

    private static void checkName(Settings settings) {
        String name = settings.operator().name();
        boolean isPlain = !name.isEmpty()
                && name.codePoints()
                        .allMatch(c -> Character.isLetterOrDigit(c) || "_-.".indexOf(c) >= 0);
        if (!isPlain || name.length() > NAME_CHARS_MAX) {
            throw settings.wrong(
                    "a name has 1 to %d letters, digits and _ - .".formatted(NAME_CHARS_MAX));
        }
    }

    private OperatorKind kind(Settings settings) {
        String name = settings.operator().kind();
        OperatorKind builtIn = OperatorKinds.BUILT_IN.get(name);
        if (builtIn != null) {
            return builtIn;
        }
        Supplier<? extends RowOperator> own = parts.operator(name);
        if (own != null) {
            return new OperatorKinds.OwnOperator(own);
        }
        Set<String> known = new LinkedHashSet<>(OperatorKinds.BUILT_IN.keySet());
        parts.kinds().forEach(known::add);
        throw settings.wrong("there is no kind '%s'%s; kinds are %s"
                .formatted(name, NearestName.hint(name, known), String.join(", ", known)));
    }

    // ---- connectors -----------------------------------------------------------------------------

    private void connector(JobConnector connector) {
        Node from = end(connector, connector.from());
        Node to = end(connector, connector.to());
        if (!from.kind.hasOutput()) {
            throw from.settings.wrong(
                    "a result gives no rows, and a %s leaves it".formatted(connector));
        }
        if (connector.output() != 0) {
            throw from.settings.wrong(
                    "there is no output %d: it has 1, of number 0".formatted(connector.output()));
        }
        if (connector.input() < 0 || connector.input() >= to.kind.inputsMax()) {
            throw to.settings.wrong(
                    to.kind.inputsMax() == 0
                            ? "%s takes no input, and a %s leads to it"
                                    .formatted(to.operator().kind(), connector)
                            : "there is no input %d: %s has %d, of numbers from 0"
                                    .formatted(
                                            connector.input(),
                                            to.operator().kind(),
                                            to.kind.inputsMax()));
        }
        JobConnector other = from.output;
        if (other != null) {
            throw from.settings.wrong("output 0 leads to '%s' and to '%s': it can lead to one"
                    .formatted(other.to(), connector.to()));
        }
        from.output = connector;
        JobConnector before = to.inputs.put(connector.input(), connector);
        if (before != null) {
            throw to.settings.wrong("input %d is fed by '%s' and by '%s': it can have one"
                    .formatted(connector.input(), before.from(), connector.from()));
        }
    }

    private Node end(JobConnector connector, String name) {
        Node node = nodes.get(name);
        if (node == null) {
            throw Settings.wrong(
                    name,
                    "there is none of this name for the %s%s"
                            .formatted(connector, NearestName.hint(name, nodes.keySet())));
        }
        return node;
    }

    private static void checkPorts(Node node) {
        int inputs = node.inputs.size();
        for (int i = 0; i < Math.max(inputs, node.kind.inputsMin()); i++) {
            if (!node.inputs.containsKey(i)) {
                throw node.settings.wrong("nothing feeds input %d".formatted(i));
            }
        }
        if (node.kind.hasOutput() && node.output == null) {
            throw node.settings.wrong("its output leads nowhere");
        }
    }

    // ---- order ----------------------------------------------------------------------------------

    /** Each behind its inputs. */
    private List<Node> inOrder() {
        Map<Node, Integer> missing = new HashMap<>();
        Deque<Node> ready = new ArrayDeque<>();
        for (Node node : nodes.values()) {
            missing.put(node, node.inputs.size());
            if (node.inputs.isEmpty()) {
                ready.add(node);
            }
        }
        List<Node> ordered = new ArrayList<>();
        while (!ready.isEmpty()) {
            Node node = ready.remove();
            ordered.add(node);
            JobConnector output = node.output;
            if (output != null) {
                Node next = node(output.to());
                if (missing.merge(next, -1, Integer::sum) == 0) {
                    ready.add(next);
                }
            }
        }
        if (ordered.size() < nodes.size()) {
            throw cycle(ordered);
        }
        return ordered;
    }

    private Node node(String name) {
        return Objects.requireNonNull(nodes.get(name), name);
    }

    /** Outputs lead on and on among what could not be put in order. */
    private InvalidRequestException cycle(List<Node> ordered) {
        Set<Node> rest = new LinkedHashSet<>(nodes.values());
        ordered.forEach(rest::remove);
        // what only follows a cycle leads out of it: its inputs lead back into it
        Node at = rest.iterator().next();
        Set<Node> seen = new LinkedHashSet<>();
        while (seen.add(at)) {
            at = at.inputs.values().stream()
                    .map(connector -> node(connector.from()))
                    .filter(rest::contains)
                    .findFirst()
                    .orElseThrow();
        }
        List<String> names = new ArrayList<>();
        boolean isInside = false;
        for (Node node : seen) {
            isInside |= node.equals(at);
            if (isInside) {
                names.addFirst(node.name());
            }
        }
        names.addFirst(names.getLast());
        return at.settings.wrong("it reads its own rows: " + String.join(" → ", names));
    }

    private void checkResult() {
        Node found = null;
        for (Node node : nodes.values()) {
            if (!node.kind.hasOutput()) {
                if (found != null) {
                    throw node.settings.wrong(
                            "a job has one result, and '%s' is one".formatted(found.name()));
                }
                found = node;
            }
        }
        assert found != null : "outputs lead somewhere, and in no cycle";
    }

    // ---- types ----------------------------------------------------------------------------------

    private List<Checked> types(List<Node> ordered) {
        Map<String, RecordType> types = new HashMap<>();
        Map<String, Layout> layouts = new HashMap<>();
        List<Checked> checked = new ArrayList<>();
        for (Node node : ordered) {
            List<RecordType> inputTypes = new ArrayList<>();
            List<Layout> inputLayouts = new ArrayList<>();
            List<JobConnector> connectors = new ArrayList<>();
            for (int i = 0; i < node.inputs.size(); i++) {
                JobConnector connector =
                        Objects.requireNonNull(node.inputs.get(i), "ports were checked");
                connectors.add(connector);
                RecordType type =
                        Objects.requireNonNull(types.get(connector.from()), "inputs come first");
                Layout layout =
                        Objects.requireNonNull(layouts.get(connector.from()), "inputs come first");
                checkFits(connector, type, layout);
                inputTypes.add(type);
                inputLayouts.add(behind(connector, layout));
            }
            RecordType type = type(node, inputTypes);
            node.kind.checkPartitions(node.settings, inputLayouts);
            types.put(node.name(), type);
            layouts.put(node.name(), node.kind.layout(node.settings, inputLayouts, type));
            checked.add(new Checked(node.operator(), node.kind, connectors, node.output, type));
        }
        return List.copyOf(checked);
    }

    @SuppressWarnings("ReferenceEquality") // the message of one's own names the operator already
    private RecordType type(Node node, List<RecordType> inputs) {
        try {
            return node.kind.type(node.settings, inputs, parts);
        } catch (InvalidRequestException e) {
            String message = String.valueOf(e.getMessage());
            String prefix = "operator '%s': ".formatted(node.name());
            throw message.startsWith(prefix) ? e : new InvalidRequestException(prefix + message, e);
        }
    }

    private void checkFits(JobConnector connector, RecordType type, Layout layout) {
        int fromCount = node(connector.from()).operator().partitions();
        int toCount = node(connector.to()).operator().partitions();
        switch (connector.kind()) {
            case ONE_TO_ONE -> {
                checkNoFields(connector);
                if (fromCount != toCount) {
                    throw wrong(
                            connector,
                            "it joins %d partitions to %d: they must be as many"
                                    .formatted(fromCount, toCount));
                }
            }
            case BROADCAST, ROUND_ROBIN -> checkNoFields(connector);
            case HASH -> {
                checkSomeFields(connector, "a key");
                connector.fields().forEach(field -> checkField(connector, type, field));
            }
            case MERGING -> {
                checkSomeFields(connector, "an order");
                connector
                        .fields()
                        .forEach(text -> checkField(connector, type, Layout.fieldOf(text)));
                if (toCount != 1) {
                    throw wrong(
                            connector,
                            "it leads to %d partitions: sorted rows are merged into 1"
                                    .formatted(toCount));
                }
                int length = connector.fields().size();
                if (layout.order().size() < length
                        || !layout.order().subList(0, length).equals(connector.fields())) {
                    throw wrong(
                            connector,
                            "it merges rows by %s, and '%s' gives them %s"
                                    .formatted(
                                            String.join(", ", connector.fields()),
                                            connector.from(),
                                            layout.order().isEmpty()
                                                    ? "in no order"
                                                    : "by " + String.join(", ", layout.order())));
                }
            }
        }
    }

    private static void checkNoFields(JobConnector connector) {
        if (!connector.fields().isEmpty()) {
            throw wrong(connector, "it goes by no fields, and names " + connector.fields());
        }
    }

    private static void checkSomeFields(JobConnector connector, String what) {
        if (connector.fields().isEmpty()) {
            throw wrong(connector, "it needs " + what);
        }
        if (new HashSet<>(connector.fields()).size() < connector.fields().size()) {
            throw wrong(connector, "it names a field twice: " + connector.fields());
        }
    }

    private static void checkField(JobConnector connector, RecordType type, String name) {
        int index = type.indexOf(name);
        if (index < 0) {
            throw wrong(
                    connector,
                    "the rows of '%s' have no field '%s': they have %s"
                            .formatted(connector.from(), name, type.names()));
        }
        Field field = type.field(index);
        if (!field.kind().isScalar() || type.isEach(index)) {
            throw wrong(
                    connector,
                    "field '%s' is of type %s: rows go by fields of one simple value"
                            .formatted(name, field.typeLabel()));
        }
    }

    /** Names the operator that it leads to. */
    private static InvalidRequestException wrong(JobConnector connector, String what) {
        return Settings.wrong(connector.to(), "%s: %s".formatted(connector, what));
    }

    /** How rows lie behind a connector. */
    private Layout behind(JobConnector connector, Layout layout) {
        boolean isOne = node(connector.to()).operator().partitions() == 1;
        return switch (connector.kind()) {
            case ONE_TO_ONE -> layout;
            case HASH -> new Layout(List.of(), connector.fields(), isOne);
            case BROADCAST -> new Layout(List.of(), null, true);
            case MERGING -> new Layout(connector.fields(), null, true);
            case ROUND_ROBIN -> new Layout(List.of(), null, isOne);
        };
    }

    // ---- constraints ----------------------------------------------------------------------------

    private void constraints(List<JobConstraint> constraints) {
        Map<String, Map<Integer, List<Integer>>> byOperator = new LinkedHashMap<>();
        for (JobConstraint constraint : constraints) {
            String name = constraint.operator();
            Node node = nodes.get(name);
            if (node == null) {
                throw Settings.wrong(
                        name,
                        "there is none of this name for a constraint"
                                + NearestName.hint(name, nodes.keySet()));
            }
            if (!node.kind.isSource()) {
                throw node.settings.wrong(
                        "a constraint says what a source reads, and %s reads no dataset"
                                .formatted(node.operator().kind()));
            }
            int count = node.operator().partitions();
            if (constraint.partition() < 0 || constraint.partition() >= count) {
                throw node.settings.wrong("a constraint is on partition %d: it has %d, from 0"
                        .formatted(constraint.partition(), count));
            }
            Map<Integer, List<Integer>> known =
                    byOperator.computeIfAbsent(name, _ -> new HashMap<>());
            if (known.put(constraint.partition(), constraint.reads()) != null) {
                throw node.settings.wrong(
                        "two constraints are on partition %d".formatted(constraint.partition()));
            }
        }
        byOperator.forEach((name, reads) -> checkReads(node(name), reads));
    }

    private static void checkReads(Node node, Map<Integer, List<Integer>> reads) {
        int count = node.operator().partitions();
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < count; i++) {
            List<Integer> of = reads.get(i);
            if (of == null) {
                throw node.settings.wrong(
                        "a constraint is missing on partition %d: there is one on each or on none"
                                .formatted(i));
            }
            for (int partition : of) {
                if (partition < 0 || !seen.add(partition)) {
                    throw node.settings.wrong("partition %d of the dataset is %s"
                            .formatted(partition, partition < 0 ? "below 0" : "read twice"));
                }
            }
        }
    }
}
