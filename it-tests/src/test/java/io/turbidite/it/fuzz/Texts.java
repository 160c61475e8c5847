package io.turbidite.it.fuzz;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.FieldPath;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.parse.CsvFormat;
import io.turbidite.feeds.parse.CsvRecordParser;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.LineFramer;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.parse.Transform;
import io.turbidite.hashlog.parse.FieldListener;
import io.turbidite.hashlog.parse.ParserSpec;
import io.turbidite.hashlog.parse.ScanMode;
import io.turbidite.hashlog.psf.PsfDefinition;

import java.io.ByteArrayInputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** Decoders of text: definitions, records of feeds and of the hash log, expressions of both. */
final class Texts implements Decoder.Run {
    private static final RecordType TYPE = RecordType.builder()
            .field("id", "int64")
            .field("small", "int8?")
            .field("real", "double?")
            .field("price", "decimal?")
            .field("name", "string?")
            .field("flag", "bool?")
            .field("at", "datetime?")
            .field("place", "point?")
            .field("box", "rectangle?")
            .field("raw", "bytes?")
            .build();

    private final List<String> seeds;
    private final Consumer<byte[]> decoder;

    private Texts(List<String> seeds, Consumer<byte[]> decoder) {
        this.seeds = seeds;
        this.decoder = decoder;
    }

    @Override
    public List<byte[]> seeds() {
        return seeds.stream().map(text -> text.getBytes(StandardCharsets.UTF_8)).toList();
    }

    @Override
    public void decode(byte[] input) {
        decoder.accept(input);
    }

    private static String text(byte[] input) {
        return new String(input, StandardCharsets.UTF_8);
    }

    static Texts definition() {
        String yaml = """
                feed: f
                dataset:
                  name: D
                  type: {id: int64, at: datetime, user: 'string?', place: point}
                  primaryKey: id
                  filter: at
                  partitions: 2
                  maintenance: validation
                  mergePolicy: {kind: correlated-tiering, sizeRatio: 1.2}
                  indexes:
                    - {name: by_user, kind: btree, on: [user, id]}
                source: {kind: file, path: f.csv}
                parser: {kind: csv, header: true, separator: ';'}
                transform:
                  place: point(lat, lon)
                """;
        return new Texts(
                List.of(yaml, "feed: &a [*a]\n", "{feed: !!x 1, dataset: ? a : b}"),
                input -> FeedDefinition.parse("f.yaml", Path.of("/defs"), text(input))
                        .toDatasetSpec());
    }

    /** Frames of a stream by the parser's rules, each parsed, and what is made is a record. */
    private static Consumer<byte[]> records(Supplier<RecordParser> parsers) {
        return input -> {
            RecordParser parser = parsers.get();
            ByteArrayInputStream in = new ByteArrayInputStream(input);
            RecordFramer framer = new LineFramer(in::read, parser.quotes(), ',', 0, 1);
            boolean headed = !parser.wantsHeader();
            RecordView view = new RecordView(TYPE);
            while (framer.next()) {
                if (headed) {
                    record(parser, framer.frame(), view);
                } else {
                    parser.header(framer.frame());
                    headed = true;
                }
            }
        };
    }

    private static void record(RecordParser parser, RecordFrame frame, RecordView view) {
        Slice record;
        try {
            record = parser.parse(frame);
        } catch (InvalidRequestException deadLetter) {
            return;
        }
        view.wrap(record).check();
    }

    static Texts feedJson() {
        return new Texts(
                List.of(
                        """
                        {"id":1,"small":-3,"real":1.5e300,"price":12.340,"name":"a\\u00e9\\n","flag":true}
                        {"id":2,"at":"2026-11-22T10:00:00.123Z","place":[1,2.5],"x":{"y":[null,1e9]}}
                        """,
                        "{\"id\":3,\"box\":[[0,0],[1,1]],\"raw\":\"00ff\"}\n{\"id\":",
                        "{\"id\":4,\"name\":\"\\ud83d\\ude00\",\"name\":\"twice\"}"),
                records(() -> new JsonRecordParser(
                        TYPE, true, List.of(new Transform("real", "coalesce(small, 2)")))));
    }

    static Texts feedCsv() {
        return new Texts(
                List.of(
                        "id,small,real,name\n1,2,3.5,\"a \"\"b\"\"\n c\"\n2,,,\n",
                        "id,at,place,extra\r\n1,2026-11-22,\"1 2\",x\r\n"),
                records(() -> new CsvRecordParser(
                        TYPE, new CsvFormat(',', true, List.of()), true, List.of())));
    }

    static Texts feedExpression() {
        return new Texts(
                List.of(
                        "point(a, 1.5e3)",
                        "concat(upper(name), '-''-', `a b`)",
                        "coalesce(nullif(trim(x), ''), lower(y), -1)"),
                input -> new JsonRecordParser(
                        TYPE, true, List.of(new Transform("name", text(input)))));
    }

    private static Texts ofLog(ParserSpec spec, List<FieldPath> paths, List<String> seeds) {
        return new Texts(seeds, input -> {
            MemorySegment segment = MemorySegment.ofArray(input);
            Set<Boolean> answers = new HashSet<>();
            for (ScanMode mode : List.of(ScanMode.WORDS, ScanMode.best())) {
                answers.add(spec.newParser(paths, FieldListener.NONE, mode)
                        .parse(segment, 0, input.length));
            }
            if (answers.size() > 1) {
                throw new IllegalStateException("the two ways to scan differ");
            }
        });
    }

    static Texts logJson() {
        return ofLog(
                ParserSpec.parse("json"),
                List.of(FieldPath.of("id"), FieldPath.of("a.b"), FieldPath.of("text")),
                List.of(
                        "{\"id\":12,\"a\":{\"b\":[1,2,{\"c\":null}]},\"text\":\"\\u0041\\\\\"}",
                        "{\"text\":\"" + "x".repeat(130) + "\",\"id\":-1.5e10}"));
    }

    static Texts logCsv() {
        return ofLog(
                ParserSpec.parse("csv(\",\", id:number, text, open:boolean)"),
                List.of(FieldPath.of("id"), FieldPath.of("text"), FieldPath.of("open")),
                List.of("12,\"a \"\"b\"\"\",true", ",,", "1e5,x"));
    }

    static Texts logExpression() {
        return new Texts(
                List.of(
                        "field(actor.name)",
                        "prefix(repo.name, 8)",
                        "function(domain, actor.email)",
                        "type == \"PushEvent\" && payload.size > 1.5"),
                input -> {
                    String text = text(input);
                    try {
                        PsfDefinition definition = PsfDefinition.parse(text);
                        if (!PsfDefinition.parse(definition.text()).equals(definition)) {
                            throw new IllegalStateException("not read as it was written: " + text);
                        }
                    } catch (InvalidRequestException refused) {
                        Expression.condition(text, Expression.Grammar.PATHS);
                    }
                });
    }
}
