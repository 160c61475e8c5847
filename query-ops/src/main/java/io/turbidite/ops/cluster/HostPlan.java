package io.turbidite.ops.cluster;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.ops.job.JobConstraint;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobOperator;
import io.turbidite.ops.job.JobStage;
import io.turbidite.ops.job.JobStages;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Where the instances of each stage of a graph run, and what their sources read.
 *
 * <ol>
 *   <li>A stage without a source has its instances on all nodes in turn.
 *   <li>Where all sources of a stage can be read by its own instances, these are on the nodes that
 *       hold the datasets: there are at least as many as nodes, and those of one node share what it
 *       holds; or constraints say who reads what.
 *   <li>Any other source is cut off: an instance on each node that holds its dataset sends the rows
 *       to the stage. Which instance gets which row of a source means nothing without a constraint,
 *       and with one its rows go to the instance that it names.
 * </ol>
 *
 * <em>Immutable.</em>
 */
final class HostPlan {
    /**
     * A stage with its instances.
     *
     * @param nodes by instance
     * @param reads by the name of a source and by instance: the partitions of its node that it
     *     reads
     * @param counts by the name of a source and by instance: how many partitions its node holds
     */
    record Placed(
            JobStage stage,
            List<String> nodes,
            Map<String, List<List<Integer>>> reads,
            Map<String, List<Integer>> counts) {}

    private final JobGraph graph;
    private final Placement placement;
    private final Set<String> cuts = new HashSet<>();
    private final List<Placed> stages = new ArrayList<>();

    private HostPlan(JobGraph graph, Placement placement) {
        this.graph = graph;
        this.placement = placement;
    }

    /**
     * Plans a graph.
     *
     * @throws InvalidRequestException if a dataset or a partition that it reads is on no node, or
     *     one instance is to read partitions of several
     */
    static HostPlan of(JobGraph graph, Placement placement) {
        HostPlan plan = new HostPlan(graph, placement);
        for (JobStage stage : JobStages.of(graph, Set.of()).all()) {
            if (plan.ownNodes(stage) == null) {
                stage.sources().forEach(source -> plan.cuts.add(source.name()));
            }
        }
        for (JobStage stage : JobStages.of(graph, plan.cuts).all()) {
            plan.stages.add(plan.place(stage));
        }
        return plan;
    }

    /** Each behind those that it reads; the result's is the last. */
    List<Placed> stages() {
        return stages;
    }

    /** The sources that are stages of their own. */
    Set<String> cuts() {
        return cuts;
    }

    private Placed place(JobStage stage) {
        List<Placement.Node> nodes = ownNodes(stage);
        if (nodes == null) {
            // a source that was cut off, alone in its stage
            nodes = holding(stage.sources().getFirst());
        }
        Map<String, List<List<Integer>>> reads = new HashMap<>();
        Map<String, List<Integer>> counts = new HashMap<>();
        for (JobOperator source : stage.sources()) {
            reads.put(source.name(), reads(source, nodes));
            String dataset = dataset(source);
            counts.put(
                    source.name(),
                    nodes.stream().map(node -> node.count(dataset)).toList());
        }
        return new Placed(stage, nodes.stream().map(Placement.Node::name).toList(), reads, counts);
    }

    /** Nodes by instance; null: its sources can't be read by its instances. */
    private @Nullable List<Placement.Node> ownNodes(JobStage stage) {
        List<Placement.Node> chosen = null;
        for (JobOperator source : stage.sources()) {
            List<Placement.Node> wanted = wanted(source, stage.partitions());
            if (wanted == null || (chosen != null && !chosen.equals(wanted))) {
                return null;
            }
            chosen = wanted;
        }
        return chosen == null ? inTurn(holdingAll(), stage.partitions()) : chosen;
    }

    /**
     * The nodes that hold some of all datasets of the job: others don't know their types. Where
     * there is none, all: the one that lacks a dataset says so.
     */
    private List<Placement.Node> holdingAll() {
        Set<String> datasets = graph.operators().stream()
                .filter(operator -> operator.settings().containsKey("dataset"))
                .map(HostPlan::dataset)
                .collect(Collectors.toSet());
        List<Placement.Node> all = placement.nodes().stream()
                .filter(node -> datasets.stream().allMatch(dataset -> node.count(dataset) > 0))
                .toList();
        return all.isEmpty() ? placement.nodes() : all;
    }

    /** The nodes that it needs. */
    Set<String> nodes() {
        Set<String> needed = new TreeSet<>();
        stages.forEach(placed -> needed.addAll(placed.nodes()));
        return needed;
    }

    private @Nullable List<Placement.Node> wanted(JobOperator source, int instances) {
        Map<Integer, List<Integer>> constraints = constraints(source);
        if (!constraints.isEmpty()) {
            List<Placement.Node> nodes = new ArrayList<>();
            for (int i = 0; i < instances; i++) {
                nodes.add(
                        nodeOf(source, Objects.requireNonNullElse(constraints.get(i), List.of())));
            }
            return nodes;
        }
        List<Placement.Node> holding = holding(source);
        return instances < holding.size() ? null : inTurn(holding, instances);
    }

    private static List<Placement.Node> inTurn(List<Placement.Node> nodes, int count) {
        List<Placement.Node> chosen = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            chosen.add(nodes.get(i % nodes.size()));
        }
        return chosen;
    }

    private List<Placement.Node> holding(JobOperator source) {
        String dataset = dataset(source);
        List<Placement.Node> holding = placement.holding(dataset);
        if (holding.isEmpty()) {
            throw wrong(source, "no node holds a partition of dataset '%s'".formatted(dataset));
        }
        return holding;
    }

    private static String dataset(JobOperator source) {
        return String.valueOf(source.settings().get("dataset"));
    }

    private Map<Integer, List<Integer>> constraints(JobOperator source) {
        Map<Integer, List<Integer>> reads = new HashMap<>();
        for (JobConstraint constraint : graph.constraints()) {
            if (constraint.operator().equals(source.name())) {
                reads.put(constraint.partition(), constraint.reads());
            }
        }
        return reads;
    }

    /** The only node that holds these partitions. */
    private Placement.Node nodeOf(JobOperator source, List<Integer> partitions) {
        String dataset = dataset(source);
        Placement.Node found = null;
        for (int partition : partitions) {
            Placement.Node holder = nodeOf(source, dataset, partition);
            if (found != null && !found.equals(holder)) {
                throw wrong(
                        source,
                        "a constraint names partitions of nodes '%s' and '%s': an instance reads those of one"
                                .formatted(found.name(), holder.name()));
            }
            found = holder;
        }
        return found == null ? holding(source).getFirst() : found;
    }

    private Placement.Node nodeOf(JobOperator source, String dataset, int partition) {
        int first = 0;
        for (Placement.Node node : holding(source)) {
            if (partition < first + node.count(dataset)) {
                return node;
            }
            first += node.count(dataset);
        }
        throw wrong(
                source,
                "a constraint names partition %d of the dataset: it has %d, from 0"
                        .formatted(partition, first));
    }

    private List<List<Integer>> reads(JobOperator source, List<Placement.Node> nodes) {
        String dataset = dataset(source);
        Map<Integer, List<Integer>> constraints = constraints(source);
        List<List<Integer>> reads = new ArrayList<>();
        Set<Integer> seen = new HashSet<>();
        for (int i = 0; i < nodes.size(); i++) {
            Placement.Node node = nodes.get(i);
            int first = placement.firstPartition(dataset, node);
            List<Integer> own = constraints.isEmpty()
                    ? shareOf(nodes, i, node.count(dataset))
                    : Objects.requireNonNullElse(constraints.get(i), List.<Integer>of()).stream()
                            .map(partition -> partition - first)
                            .toList();
            own.forEach(partition -> seen.add(first + partition));
            reads.add(own);
        }
        for (Placement.Node node : placement.nodes()) {
            for (int i = 0; i < node.count(dataset); i++) {
                if (!seen.contains(placement.firstPartition(dataset, node) + i)) {
                    throw wrong(
                            source,
                            "no constraint lets it read partition %d of the dataset"
                                    .formatted(placement.firstPartition(dataset, node) + i));
                }
            }
        }
        return reads;
    }

    /** What an instance has of the partitions of its node, which others of the stage share. */
    private static List<Integer> shareOf(List<Placement.Node> nodes, int instance, int count) {
        int index = 0;
        int all = 0;
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).equals(nodes.get(instance))) {
                index += i < instance ? 1 : 0;
                all++;
            }
        }
        List<Integer> share = new ArrayList<>();
        for (int partition = index; partition < count; partition += all) {
            share.add(partition);
        }
        return share;
    }

    /** What the job carries to a node. */
    @Nullable
    JobMark markFor(String node) {
        return placement.mark(node);
    }

    /** How many operators of all instances on a node keep rows. */
    int keepingOn(String node) {
        int keeping = 0;
        for (Placed placed : stages) {
            for (String other : placed.nodes()) {
                if (other.equals(node)) {
                    keeping += placed.stage().keepingCount();
                }
            }
        }
        return keeping;
    }

    /** How many instances of all stages are on a node. */
    int tasksOn(String node) {
        return (int) stages.stream()
                .flatMap(placed -> placed.nodes().stream())
                .filter(node::equals)
                .count();
    }

    private static InvalidRequestException wrong(JobOperator operator, String what) {
        return new InvalidRequestException("operator '%s': %s".formatted(operator.name(), what));
    }
}
