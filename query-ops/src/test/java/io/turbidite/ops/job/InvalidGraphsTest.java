package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** A wrong graph is refused when it is built, by a message that names the operator. */
class InvalidGraphsTest {
    private static final JobParts PARTS = JobFixture.parts(0).withOperator("picky", Picky::new);

    /** Takes one input and no settings. */
    private static final class Picky implements RowOperator {
        @Override
        public RecordType type(List<RecordType> inputs, Map<String, Object> settings) {
            if (inputs.size() != 1) {
                throw new InvalidRequestException("picky has one input");
            }
            return inputs.getFirst();
        }

        @Override
        public void row(int input, RecordView row) {
            throw new AssertionError("it never runs");
        }

        @Override
        public @Nullable Slice next() {
            return null;
        }

        @Override
        public void close() {
            // holds nothing
        }
    }

    private record Case(String message, Consumer<JobGraph.Builder> graph) {}

    private static Case of(String message, Consumer<JobGraph.Builder> graph) {
        return new Case(message, graph);
    }

    /** A scan, something in the middle, and the result, by one-to-one connectors. */
    private static Case middle(String message, JobOperator middle) {
        return of(
                message,
                graph -> graph.add(JobFixture.scan("flights", middle.partitions()))
                        .add(middle)
                        .add(JobFixture.result())
                        .connect(JobConnector.oneToOne("flights", middle.name()))
                        .connect(
                                middle.partitions() == 1
                                        ? JobConnector.oneToOne(middle.name(), "out")
                                        : JobConnector.roundRobin(middle.name(), "out")));
    }

    /** A source and the result. */
    private static Case source(String message, JobOperator source) {
        return of(
                message,
                graph -> graph.add(source)
                        .add(JobFixture.result())
                        .connect(JobConnector.roundRobin(source.name(), "out")));
    }

    /** A connector from a scan of two partitions to a select of some. */
    private static Case connector(String message, int partitions, JobConnector connector) {
        return of(
                message,
                graph -> graph.add(JobFixture.scan("a", 2))
                        .add(JobOperator.of("b", "select")
                                .with("where", "id > 0")
                                .on(partitions))
                        .add(JobFixture.result())
                        .connect(connector)
                        .connect(JobConnector.roundRobin("b", "out")));
    }

    /** Flights and airports, joined on some partitions. */
    private static Case join(
            String message, JobOperator join, JobConnector left, JobConnector right) {
        return of(
                message,
                graph -> graph.add(JobFixture.scan("f", 2))
                        .add(JobOperator.of("a", "scan")
                                .with("dataset", "Airports")
                                .on(2))
                        .add(join)
                        .add(JobFixture.result())
                        .connect(left)
                        .connect(right.into(1))
                        .connect(JobConnector.roundRobin("j", "out")));
    }

    private static JobOperator joined(String type, String... on) {
        return JobOperator.of("j", "join")
                .with("type", type)
                .with("on", List.of(on))
                .on(2);
    }

    private static Case constrained(String message, JobConstraint... constraints) {
        return of(message, graph -> {
            graph.add(JobFixture.scan("flights", 2))
                    .add(JobFixture.result())
                    .connect(JobConnector.roundRobin("flights", "out"));
            Arrays.stream(constraints).forEach(graph::constrain);
        });
    }

    private static final JobConnector F_TO_J = JobConnector.hash("f", "j", "dest");
    private static final JobConnector A_TO_J = JobConnector.hash("a", "j", "code");

    private static final List<Case> CASES = List.of(
            of("a job needs operators, and one of them a result", _ -> {}),
            source(
                    "operator 'no name': a name has 1 to 100 letters, digits and _ - .",
                    JobFixture.scan("no name", 1)),
            of(
                    "operator 'a': two operators have this name",
                    graph -> graph.add(JobFixture.scan("a", 1)).add(JobFixture.scan("a", 1))),
            source(
                    "operator 'a': there is no kind 'skan'; is 'scan' meant?; kinds are scan, search, select, project, assign, sort, group, limit, values, join, union, insert, upsert, delete, result, picky",
                    JobOperator.of("a", "skan")),
            source("operator 'a': 0 partitions: there are 1 to 1024", JobFixture.scan("a", 0)),
            source(
                    "operator 'a': 1025 partitions: there are 1 to 1024",
                    JobFixture.scan("a", 1_025)),
            source(
                    "operator 'a': scan takes no setting 'wher'; is 'where' meant?",
                    JobFixture.scan("a", 1).with("wher", "id > 0")),
            source("operator 'a': scan needs the setting 'dataset'", JobOperator.of("a", "scan")),
            source(
                    "operator 'a': 'dataset' must be a text",
                    JobOperator.of("a", "scan").with("dataset", 3)),
            source(
                    "operator 'a': there is no dataset 'Flight'; is 'Flights' meant?",
                    JobOperator.of("a", "scan").with("dataset", "Flight")),
            source(
                    "operator 'a': dataset 'Flights' has no index 'by_des'; is 'by_dest' meant?",
                    JobOperator.of("a", "search")
                            .with("dataset", "Flights")
                            .with("index", "by_des")),
            source(
                    "operator 'a': condition dely > 3 names field 'dely', which is not declared",
                    JobFixture.scan("a", 1).with("where", "dely > 3")),
            middle("operator 'm': select needs the setting 'where'", JobOperator.of("m", "select")),
            middle(
                    "operator 'm': 'fields' must be a list of texts",
                    JobOperator.of("m", "project").with("fields", List.of("id", 3))),
            middle(
                    "operator 'm': select names field 'nothing', which is not declared",
                    JobOperator.of("m", "project").with("fields", List.of("nothing"))),
            middle(
                    "operator 'm': a value that is assigned needs a name: write 'id + 1 as name'",
                    JobOperator.of("m", "assign").with("fields", List.of("id + 1"))),
            middle(
                    "operator 'm': order names field 'x', which is not declared",
                    JobOperator.of("m", "sort").with("by", List.of("x:desc"))),
            middle(
                    "operator 'm': 'median(delay)' is no aggregate",
                    JobOperator.of("m", "group").with("aggregates", List.of("median(delay)"))),
            middle(
                    "operator 'm': sum takes numbers and durations; field 'dest' is of type string",
                    JobOperator.of("m", "group").with("aggregates", List.of("sum(dest)"))),
            middle(
                    "operator 'm': 'rows' must be a whole number of 0 or more",
                    JobOperator.of("m", "limit").with("rows", -1)),
            middle(
                    "operator 'm': equal groups must meet on one partition: let a hash connector by dest lead to it, or set partial to true",
                    JobOperator.of("m", "group").with("by", List.of("dest")).on(2)),
            middle(
                    "operator 'm': one group of all rows is on one partition: set partitions to 1, or partial to true",
                    JobOperator.of("m", "group").on(2)),
            middle("operator 'm': values takes no input", JobOperator.of("m", "values")),
            source(
                    "operator 'a': row 1: ",
                    JobOperator.of("a", "values")
                            .with("fields", Map.of("x", "int64"))
                            .with("rows", List.of(Map.of("x", "no number")))),
            source("operator 'a': picky has one input", JobOperator.of("a", "picky")),
            connector(
                    "operator 'x': there is none of this name for the one-to-one connector from 'x' to 'b'",
                    2,
                    JobConnector.oneToOne("x", "b")),
            connector(
                    "operator 'y': there is none of this name for the one-to-one connector from 'a' to 'y'",
                    2,
                    JobConnector.oneToOne("a", "y")),
            connector(
                    "operator 'b': there is no input 1: select has 1, of numbers from 0",
                    2,
                    JobConnector.oneToOne("a", "b").into(1)),
            connector(
                    "operator 'a': there is no output 1: it has 1, of number 0",
                    2,
                    JobConnector.oneToOne("a", "b").outOf(1)),
            connector(
                    "operator 'b': one-to-one connector from 'a' to 'b': it joins 2 partitions to 3: they must be as many",
                    3,
                    JobConnector.oneToOne("a", "b")),
            connector(
                    "operator 'b': hash connector from 'a' to 'b': it needs a key",
                    3,
                    JobConnector.hash("a", "b")),
            connector(
                    "operator 'b': hash connector from 'a' to 'b': the rows of 'a' have no field 'destination': they have id, dest, tail, delay, words",
                    3,
                    JobConnector.hash("a", "b", "destination")),
            connector(
                    "operator 'b': hash connector from 'a' to 'b': field 'words' is of type [string]?: rows go by fields of one simple value",
                    3,
                    JobConnector.hash("a", "b", "words")),
            connector(
                    "operator 'b': hash connector from 'a' to 'b': it names a field twice: [dest, dest]",
                    3,
                    JobConnector.hash("a", "b", "dest", "dest")),
            connector(
                    "operator 'b': merging connector from 'a' to 'b': it leads to 2 partitions: sorted rows are merged into 1",
                    2,
                    JobConnector.merging("a", "b", "id")),
            connector(
                    "operator 'b': merging connector from 'a' to 'b': it merges rows by id, and 'a' gives them in no order",
                    1,
                    JobConnector.merging("a", "b", "id")),
            connector(
                    "operator 'b': broadcast connector from 'a' to 'b': it goes by no fields, and names [id]",
                    3,
                    new JobConnector(JobConnector.Kind.BROADCAST, "a", 0, "b", 0, List.of("id"))),
            of(
                    "operator 'a': output 0 leads to 'b' and to 'out': it can lead to one",
                    graph -> graph.add(JobFixture.scan("a", 1))
                            .add(JobOperator.of("b", "select").with("where", "id > 0"))
                            .add(JobFixture.result())
                            .connect(JobConnector.oneToOne("a", "b"))
                            .connect(JobConnector.oneToOne("a", "out"))),
            of(
                    "operator 'out': input 0 is fed by 'a' and by 'b': it can have one",
                    graph -> graph.add(JobFixture.scan("a", 1))
                            .add(JobFixture.scan("b", 1))
                            .add(JobFixture.result())
                            .connect(JobConnector.oneToOne("a", "out"))
                            .connect(JobConnector.oneToOne("b", "out"))),
            of(
                    "operator 'b': nothing feeds input 0",
                    graph -> graph.add(JobOperator.of("b", "select").with("where", "id > 0"))
                            .add(JobFixture.result())
                            .connect(JobConnector.oneToOne("b", "out"))),
            of(
                    "operator 'j': nothing feeds input 1",
                    graph -> graph.add(JobFixture.scan("f", 1))
                            .add(joined("inner", "dest").on(1))
                            .add(JobFixture.result())
                            .connect(JobConnector.oneToOne("f", "j"))
                            .connect(JobConnector.oneToOne("j", "out"))),
            of(
                    "operator 'a': its output leads nowhere",
                    graph -> graph.add(JobFixture.scan("a", 1))
                            .add(JobFixture.scan("b", 1))
                            .add(JobFixture.result())
                            .connect(JobConnector.oneToOne("b", "out"))),
            of(
                    "operator 'out2': a job has one result, and 'out' is one",
                    graph -> graph.add(JobFixture.scan("a", 1))
                            .add(JobFixture.scan("b", 1))
                            .add(JobFixture.result())
                            .add(JobOperator.of("out2", "result"))
                            .connect(JobConnector.oneToOne("a", "out"))
                            .connect(JobConnector.oneToOne("b", "out2"))),
            of(
                    "operator 'out': a result gives no rows, and a one-to-one connector from 'out' to 'a' leaves it",
                    graph -> graph.add(JobOperator.of("a", "select").with("where", "id > 0"))
                            .add(JobFixture.result())
                            .connect(JobConnector.oneToOne("out", "a"))),
            of(
                    "operator 'x': it reads its own rows: x → y → x",
                    graph -> graph.add(JobFixture.scan("f", 1))
                            .add(JobFixture.scan("g", 1))
                            .connect(JobConnector.oneToOne("g", "out"))
                            .add(JobOperator.of("x", "union"))
                            .add(JobOperator.of("y", "select").with("where", "id > 0"))
                            .add(JobFixture.result())
                            .connect(JobConnector.oneToOne("x", "y"))
                            .connect(JobConnector.oneToOne("y", "x"))
                            .connect(JobConnector.oneToOne("f", "x").into(1))),
            of(
                    "operator 'u': the rows of input 1 are",
                    graph -> graph.add(JobFixture.scan("f", 1))
                            .add(JobOperator.of("a", "scan").with("dataset", "Airports"))
                            .add(JobOperator.of("u", "union"))
                            .add(JobFixture.result())
                            .connect(JobConnector.oneToOne("f", "u"))
                            .connect(JobConnector.oneToOne("a", "u").into(1))
                            .connect(JobConnector.oneToOne("u", "out"))),
            join(
                    "operator 'j': there is no join of type 'iner'; is 'inner' meant?; types are inner, left, full, semi, anti, not-in",
                    joined("iner", "dest = code"),
                    F_TO_J,
                    A_TO_J),
            join(
                    "operator 'j': a join needs fields that must be equal",
                    joined("inner"),
                    F_TO_J,
                    A_TO_J),
            join("operator 'j': ", joined("inner", "id = code"), F_TO_J, A_TO_J),
            join(
                    "operator 'j': rows that meet must be on one partition: let hash connectors by the fields of 'on' lead to both inputs, or a broadcast connector to input 1",
                    joined("inner", "dest = code"),
                    JobConnector.roundRobin("f", "j"),
                    A_TO_J),
            join(
                    "operator 'j': a full join on several partitions finds rows twice if they are broadcast to it here",
                    joined("full", "dest = code"),
                    F_TO_J,
                    JobConnector.broadcast("a", "j")),
            of(
                    "operator 'out': a result is on one partition",
                    graph -> graph.add(JobFixture.scan("a", 2))
                            .add(JobFixture.result().on(2))
                            .connect(JobConnector.oneToOne("a", "out"))),
            constrained(
                    "operator 'nobody': there is none of this name for a constraint",
                    new JobConstraint("nobody", 0, List.of(0))),
            constrained(
                    "operator 'out': a constraint says what a source reads, and result reads no dataset",
                    new JobConstraint("out", 0, List.of(0))),
            constrained(
                    "operator 'flights': a constraint is on partition 2: it has 2, from 0",
                    new JobConstraint("flights", 2, List.of(0))),
            constrained(
                    "operator 'flights': two constraints are on partition 0",
                    new JobConstraint("flights", 0, List.of(0)),
                    new JobConstraint("flights", 0, List.of(1))),
            constrained(
                    "operator 'flights': a constraint is missing on partition 1: there is one on each or on none",
                    new JobConstraint("flights", 0, List.of(0))),
            constrained(
                    "operator 'flights': partition 1 of the dataset is read twice",
                    new JobConstraint("flights", 0, List.of(0, 1)),
                    new JobConstraint("flights", 1, List.of(1))));

    @TestFactory
    Stream<DynamicTest> eachIsRefused() {
        return CASES.stream()
                .map(one -> DynamicTest.dynamicTest(one.message(), () -> {
                    JobGraph.Builder graph = JobGraph.builder(PARTS);
                    assertThatThrownBy(() -> {
                                one.graph().accept(graph);
                                graph.build();
                            })
                            .isInstanceOf(InvalidRequestException.class)
                            .hasMessageContaining(one.message());
                }));
    }

    @Test
    void aSettingIsAValueOfJson() {
        JobOperator operator = JobOperator.of("a", "values");
        assertThatThrownBy(() -> operator.with("x", 1.5f))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("operator 'a': 'settings.x' is of Float: give a text");
        assertThatThrownBy(() -> operator.with("x", Double.NaN))
                .hasMessageContaining("'settings.x'");
        assertThatThrownBy(() -> operator.with("x", List.of(Map.of("y", 'c'))))
                .hasMessageContaining("'settings.x.y'");
        assertThatThrownBy(() -> operator.with("name", "b"))
                .hasMessage("operator 'a': no setting can be named 'name'");
    }

    @Test
    void wrongTextsAreRefused() {
        wrong("", "the job is no JSON at line 1, column 1: it ends too early");
        wrong("{", "the job is no JSON at line 1");
        wrong("{\n  \"format\": nul}", "the job is no JSON at line 2");
        wrong("[]", "a job must be an object");
        wrong("{}", "a job: 'format' is missing");
        wrong("{\"format\": \"other\"}", "this is no job: its format is 'other'");
        wrong(job("2", ""), "a job of version 2 is not known here: this release reads version 1");
        wrong(job("\"1\"", ""), "a job: 'version' must be a whole number");
        wrong(job("1", ""), "a job: 'operators' is missing");
        wrong(job("1", ", \"operators\": {}"), "a job: 'operators' must be a list");
        wrong(job("1", ", \"operators\": [3]"), "operator 0 must be an object");
        wrong(job("1", ", \"operators\": [{\"kind\": \"scan\"}]"), "operator 0: 'name' is missing");
        wrong(job("1", ", \"operators\": [{\"name\": \"a\"}]"), "operator 'a': 'kind' is missing");
        wrong(
                job(
                        "1",
                        ", \"operators\": [{\"name\": \"a\", \"kind\": \"scan\", \"partitions\": 1.5}]"),
                "operator 'a': 'partitions' must be a whole number");
        wrong(
                job(
                        "1",
                        ", \"operators\": [{\"name\": \"a\", \"kind\": \"scan\", \"partitions\": 99999999999}]"),
                "operator 'a': 'partitions' of 99999999999 is out of range");
        wrong(
                job(
                        "1",
                        ", \"operators\": [{\"name\": \"a\", \"kind\": \"scan\", \"where\": null}]"),
                "null is no value of a job");
        wrong(
                job(
                        "1",
                        ", \"operators\": [{\"name\": \"a\", \"name\": \"b\", \"kind\": \"scan\"}]"),
                "the job is no JSON at line 1");
        wrong(job("1", ", \"extra\": 1"), "a job: 'extra' is not known");
        wrong(
                job(
                        "1",
                        ", \"operators\": [], \"connectors\": [{\"kind\": \"hsh\", \"from\": \"a\", \"to\": \"b\"}]"),
                "operator 'b': there is no connector of kind 'hsh'; is 'hash' meant?");
        wrong(job("1", ", \"operators\": [], \"connectors\": []") + "{}", "something follows");
        wrong("[".repeat(100), "the job is no JSON: Document nesting depth");
    }

    private static String job(String version, String rest) {
        return "{\"format\": \"turbidite-job\", \"version\": %s%s}".formatted(version, rest);
    }

    private static void wrong(String json, String message) {
        assertThatThrownBy(() -> JobGraph.fromJson(json, PARTS))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining(message);
    }

    @Test
    void thereAreFortyAtLeast() {
        assertThat(CASES).hasSizeGreaterThanOrEqualTo(40);
    }
}
