package io.turbidite.ops.job;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.NearestName;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A graph as JSON. Static, without state.
 *
 * <pre>
 * {"format": "turbidite-job", "version": 1,
 *  "operators": [{"name": …, "kind": …, "partitions": 1 if not given, setting: value …}],
 *  "connectors": [{"kind": …, "from": …, "output": 0 if not given,
 *                  "to": …, "input": 0 if not given, "fields": none if not given}],
 *  "constraints": if there are any: [{"operator": …, "partition": …, "reads": [partition …]}]}
 * </pre>
 */
final class GraphJson {
    private static final String FORMAT = "turbidite-job";
    private static final int VERSION = 1;

    private static final int TEXT_CHARS_MAX = 4 << 20;
    private static final int DEPTH_MAX = 40;

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(DEPTH_MAX).build())
            .build();

    private GraphJson() {}

    // ---- writing --------------------------------------------------------------------------------

    static String write(JobGraph graph) {
        StringBuilder text = new StringBuilder();
        text.append("{\n  \"format\": \"%s\",\n  \"version\": %d".formatted(FORMAT, VERSION));
        append(
                text,
                "operators",
                graph.operators().stream().map(GraphJson::fields).toList());
        append(
                text,
                "connectors",
                graph.connectors().stream().map(GraphJson::fields).toList());
        if (!graph.constraints().isEmpty()) {
            append(
                    text,
                    "constraints",
                    graph.constraints().stream().map(GraphJson::fields).toList());
        }
        return text.append("\n}\n").toString();
    }

    /** One thing a line. */
    private static void append(StringBuilder text, String name, List<Map<String, Object>> things) {
        text.append(",\n  \"").append(name).append("\": [");
        String before = "\n    ";
        for (Map<String, Object> thing : things) {
            text.append(before).append(text(thing));
            before = ",\n    ";
        }
        text.append("\n  ]");
    }

    private static Map<String, Object> fields(JobOperator operator) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", operator.name());
        fields.put("kind", operator.kind());
        if (operator.partitions() != 1) {
            fields.put("partitions", operator.partitions());
        }
        fields.putAll(operator.settings());
        return fields;
    }

    private static Map<String, Object> fields(JobConnector connector) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("kind", connector.kind().label());
        fields.put("from", connector.from());
        if (connector.output() != 0) {
            fields.put("output", connector.output());
        }
        fields.put("to", connector.to());
        if (connector.input() != 0) {
            fields.put("input", connector.input());
        }
        if (!connector.fields().isEmpty()) {
            fields.put("fields", connector.fields());
        }
        return fields;
    }

    private static Map<String, Object> fields(JobConstraint constraint) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("operator", constraint.operator());
        fields.put("partition", constraint.partition());
        fields.put("reads", constraint.reads());
        return fields;
    }

    /** A value on one line. */
    static String text(Object value) {
        StringWriter text = new StringWriter();
        try (JsonGenerator generator = FACTORY.createGenerator(text)) {
            put(generator, value);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return text.toString();
    }

    private static void put(JsonGenerator to, Object value) throws IOException {
        switch (value) {
            case String text -> to.writeString(text);
            case Boolean is -> to.writeBoolean(is);
            case Integer number -> to.writeNumber(number);
            case Long number -> to.writeNumber(number);
            case Double number -> to.writeNumber(number);
            case List<?> list -> {
                to.writeStartArray();
                for (Object one : list) {
                    put(to, one);
                }
                to.writeEndArray();
            }
            case Map<?, ?> map -> {
                to.writeStartObject();
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    to.writeFieldName(String.valueOf(entry.getKey()));
                    put(to, entry.getValue());
                }
                to.writeEndObject();
            }
            default -> throw new IllegalStateException(value.getClass() + " is not of JSON");
        }
    }

    // ---- reading --------------------------------------------------------------------------------

    static JobGraph read(String json, JobGraph.Builder into) {
        Part job = new Part("a job", object(parse(json), "a job"));
        if (!job.text("format").equals(FORMAT)) {
            throw new InvalidRequestException("this is no job: its format is '%s' and not '%s'"
                    .formatted(job.text("format"), FORMAT));
        }
        long version = job.number("version", null);
        if (version != VERSION) {
            throw new InvalidRequestException(
                    "a job of version %d is not known here: this release reads version %d"
                            .formatted(version, VERSION));
        }
        job.checkKnown(List.of("format", "version", "operators", "connectors", "constraints"));
        for (Part part : job.parts("operators", true)) {
            into.add(operator(part));
        }
        for (Part part : job.parts("connectors", true)) {
            into.connect(connector(part));
        }
        for (Part part : job.parts("constraints", false)) {
            part.checkKnown(List.of("operator", "partition", "reads"));
            into.constrain(new JobConstraint(
                    part.text("operator"), part.count("partition", null), part.counts("reads")));
        }
        return into.build();
    }

    /** The kinds of the operators, as far as it has any. */
    static List<String> kinds(String json) {
        List<String> kinds = new ArrayList<>();
        if (parse(json) instanceof Map<?, ?> job && job.get("operators") instanceof List<?> all) {
            for (Object one : all) {
                if (one instanceof Map<?, ?> operator
                        && operator.get("kind") instanceof String kind) {
                    kinds.add(kind);
                }
            }
        }
        return kinds;
    }

    private static JobOperator operator(Part part) {
        String name = part.text("name");
        int partitions = part.count("partitions", 1L);
        Map<String, Object> settings = new LinkedHashMap<>(part.fields);
        settings.keySet().removeAll(JobOperator.RESERVED);
        return new JobOperator(name, part.text("kind"), partitions, settings);
    }

    private static JobConnector connector(Part part) {
        part.checkKnown(List.of("kind", "from", "output", "to", "input", "fields"));
        String label = part.text("kind");
        List<String> labels = Arrays.stream(JobConnector.Kind.values())
                .map(JobConnector.Kind::label)
                .toList();
        int kind = labels.indexOf(label);
        if (kind < 0) {
            throw Settings.wrong(
                    part.text("to"),
                    "there is no connector of kind '%s'%s; kinds are %s"
                            .formatted(
                                    label,
                                    NearestName.hint(label, labels),
                                    String.join(", ", labels)));
        }
        return new JobConnector(
                List.of(JobConnector.Kind.values()).get(kind),
                part.text("from"),
                part.count("output", 0L),
                part.text("to"),
                part.count("input", 0L),
                part.texts("fields"));
    }

    private static Object parse(String json) {
        if (json.length() > TEXT_CHARS_MAX) {
            throw new InvalidRequestException("a job of %d characters is above the limit of %d"
                    .formatted(json.length(), TEXT_CHARS_MAX));
        }
        try (JsonParser parser = FACTORY.createParser(json)) {
            parser.nextToken();
            Object value = value(parser);
            if (parser.nextToken() != null) {
                throw at(parser.currentTokenLocation(), "something follows the job");
            }
            return value;
        } catch (JsonProcessingException e) {
            throw at(e.getLocation(), e.getOriginalMessage());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Object value(JsonParser parser) throws IOException {
        JsonToken token = parser.currentToken();
        if (token == null) {
            throw at(parser.currentLocation(), "it ends too early");
        }
        return switch (token) {
            case VALUE_STRING -> parser.getText();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NUMBER_INT -> parser.getLongValue();
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            case START_ARRAY -> {
                List<Object> list = new ArrayList<>();
                while (parser.nextToken() != JsonToken.END_ARRAY) {
                    list.add(value(parser));
                }
                yield list;
            }
            case START_OBJECT -> {
                Map<String, Object> map = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    parser.nextToken();
                    map.put(name, value(parser));
                }
                yield map;
            }
            default -> throw at(parser.currentTokenLocation(), "null is no value of a job");
        };
    }

    private static InvalidRequestException at(@Nullable JsonLocation location, String what) {
        return new InvalidRequestException(
                location == null
                        ? "the job is no JSON: " + what
                        : "the job is no JSON at line %d, column %d: %s"
                                .formatted(location.getLineNr(), location.getColumnNr(), what));
    }

    private static Map<?, ?> object(Object value, String what) {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw new InvalidRequestException(what + " must be an object");
    }

    /** An object of the text, with what messages call it. */
    private static final class Part {
        final String what;
        final Map<String, Object> fields = new LinkedHashMap<>();

        Part(String what, Map<?, ?> given) {
            given.forEach((name, value) -> fields.put(String.valueOf(name), value));
            boolean isOperator = fields.get("name") instanceof String && !what.equals("a job");
            this.what = isOperator ? "operator '%s'".formatted(fields.get("name")) : what;
        }

        void checkKnown(Collection<String> known) {
            for (String name : fields.keySet()) {
                if (!known.contains(name)) {
                    throw wrong(
                            "'%s' is not known%s".formatted(name, NearestName.hint(name, known)));
                }
            }
        }

        String text(String name) {
            if (fields.get(name) instanceof String text) {
                return text;
            }
            throw wrong(
                    fields.containsKey(name)
                            ? "'%s' must be a text".formatted(name)
                            : "'%s' is missing".formatted(name));
        }

        long number(String name, @Nullable Long otherwise) {
            Object given = fields.get(name);
            if (given == null && otherwise != null) {
                return otherwise;
            }
            if (given instanceof Long number) {
                return number;
            }
            throw wrong(
                    given == null
                            ? "'%s' is missing".formatted(name)
                            : "'%s' must be a whole number".formatted(name));
        }

        int count(String name, @Nullable Long otherwise) {
            return toInt(name, number(name, otherwise));
        }

        private int toInt(String name, long number) {
            if (number != (int) number) {
                throw wrong("'%s' of %d is out of range".formatted(name, number));
            }
            return (int) number;
        }

        List<Integer> counts(String name) {
            List<Integer> counts = new ArrayList<>();
            for (Object one : list(name, true)) {
                if (!(one instanceof Long number)) {
                    throw wrong("'%s' must be a list of whole numbers".formatted(name));
                }
                counts.add(toInt(name, number));
            }
            return counts;
        }

        List<String> texts(String name) {
            List<String> texts = new ArrayList<>();
            for (Object one : list(name, false)) {
                if (!(one instanceof String text)) {
                    throw wrong("'%s' must be a list of texts".formatted(name));
                }
                texts.add(text);
            }
            return texts;
        }

        List<Part> parts(String name, boolean isNeeded) {
            List<Part> parts = new ArrayList<>();
            for (Object one : list(name, isNeeded)) {
                String each = "%s %d".formatted(name.substring(0, name.length() - 1), parts.size());
                parts.add(new Part(each, object(one, each)));
            }
            return parts;
        }

        private List<?> list(String name, boolean isNeeded) {
            Object given = fields.get(name);
            if (given == null && !isNeeded) {
                return List.of();
            }
            if (given instanceof List<?> list) {
                return list;
            }
            throw wrong(
                    given == null
                            ? "'%s' is missing".formatted(name)
                            : "'%s' must be a list".formatted(name));
        }

        private InvalidRequestException wrong(String problem) {
            return new InvalidRequestException(what + ": " + problem);
        }
    }
}
