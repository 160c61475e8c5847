package io.turbidite.feeds;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.yaml.JacksonYAMLParseException;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;

import io.turbidite.feeds.YamlNode.Entry;
import io.turbidite.feeds.YamlNode.Mapping;
import io.turbidite.feeds.YamlNode.Scalar;
import io.turbidite.feeds.YamlNode.Scalar.Kind;
import io.turbidite.feeds.YamlNode.Sequence;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Reads YAML into {@link YamlNode}s. Jackson's own tree has no line numbers and lets the second of
 * two equal keys win, so the tree is built here from its token stream. Aliases are refused: a
 * definition has no use for them, and nested they are a way to make a small file large.
 *
 * <p><em>Confined to one thread.</em>
 */
final class YamlTree {
    /** Definitions nest five deep. */
    private static final int DEPTH_MAX = 16;

    /** What YAML's own tags, written with two exclamation marks, stand for. */
    private static final String YAML_TAGS = "tag:yaml.org,2002:";

    private static final YAMLFactory YAML = YAMLFactory.builder()
            .enable(YAMLParser.Feature.PARSE_BOOLEAN_LIKE_WORDS_AS_STRINGS)
            .build();

    private final String file;
    private final YAMLParser parser;

    private YamlTree(String file, YAMLParser parser) {
        this.file = file;
        this.parser = parser;
    }

    /**
     * The one document in {@code text}.
     *
     * @param file what problems call it
     * @throws DefinitionException with line and reason if that isn't YAML
     */
    static YamlNode read(String file, String text) {
        try (YAMLParser parser = YAML.createParser(text)) {
            YamlTree tree = new YamlTree(file, parser);
            JsonToken first = parser.nextToken();
            if (first == null) {
                throw tree.problem("", "is empty");
            }
            YamlNode root = tree.node(first, "", 0);
            if (parser.nextToken() != null) {
                throw tree.problem("", "holds a second document; a definition is one");
            }
            return root;
        } catch (JacksonYAMLParseException e) {
            throw syntax(file, e);
        } catch (JacksonException e) {
            throw syntax(file, e);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // a string can't fail to be read
        }
    }

    private YamlNode node(JsonToken token, String path, int depth) throws IOException {
        if (depth > DEPTH_MAX) {
            throw problem(path, "is nested deeper than " + DEPTH_MAX);
        }
        if (parser.isCurrentAlias()) {
            throw problem(path, "is an alias (*…); write the value out");
        }
        if (parser.getTypeId() != null) {
            throw problem(
                    path,
                    "has the tag %s, and tags are not read: leave it out; a value in quotes is text"
                            .formatted(tag(String.valueOf(parser.getTypeId()))));
        }
        int line = line();
        return switch (token) {
            case START_OBJECT -> mapping(line, path, depth);
            case START_ARRAY -> sequence(line, path, depth);
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> scalar(line, Kind.NUMBER);
            case VALUE_TRUE, VALUE_FALSE -> scalar(line, Kind.TRUTH);
            case VALUE_NULL -> scalar(line, Kind.NOTHING);
            default -> scalar(line, Kind.TEXT);
        };
    }

    /** As it is written. */
    private static String tag(String id) {
        return id.startsWith(YAML_TAGS) ? "!!" + id.substring(YAML_TAGS.length()) : "!" + id;
    }

    private Scalar scalar(int line, Kind kind) throws IOException {
        String text = Objects.requireNonNullElse(parser.getText(), "");
        return new Scalar(line, text, text.isEmpty() ? Kind.NOTHING : kind);
    }

    private Mapping mapping(int line, String path, int depth) throws IOException {
        Map<String, Entry> entries = new LinkedHashMap<>();
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String key = parser.currentName();
            String keyPath = path.isEmpty() ? key : path + "." + key;
            int keyLine = line();
            Entry earlier = entries.get(key);
            if (earlier != null) {
                throw problem(keyPath, "is already given in line " + earlier.line());
            }
            entries.put(key, new Entry(keyLine, node(parser.nextToken(), keyPath, depth + 1)));
        }
        return new Mapping(line, entries);
    }

    private Sequence sequence(int line, String path, int depth) throws IOException {
        List<YamlNode> items = new ArrayList<>();
        JsonToken token;
        while ((token = parser.nextToken()) != JsonToken.END_ARRAY) {
            items.add(node(token, path + "[" + items.size() + "]", depth + 1));
        }
        return new Sequence(line, items);
    }

    private int line() {
        return Math.max(1, parser.currentTokenLocation().getLineNr());
    }

    private DefinitionException problem(String key, String message) {
        return new DefinitionException(
                List.of(new DefinitionException.Problem(file, line(), key, message)));
    }

    private static DefinitionException syntax(String file, JacksonException e) {
        @Nullable JsonLocation location = e.getLocation();
        int line = location == null ? 1 : Math.max(1, location.getLineNr());
        String message = "is not YAML: " + firstLines(e.getOriginalMessage());
        if (message.endsWith("but got ?")) {
            message += "; inside { } put a value that holds '?' in quotes";
        }
        return new DefinitionException(
                List.of(new DefinitionException.Problem(file, line, "", message)));
    }

    /**
     * The scanner's message has the offending text drawn under it; the sentence alone is enough.
     */
    private static String firstLines(String message) {
        List<String> kept = new ArrayList<>();
        for (String part : message.split("\n", -1)) {
            String trimmed = part.strip();
            if (!trimmed.isEmpty() && !trimmed.equals("^") && !part.startsWith(" ")) {
                kept.add(trimmed);
            }
            if (kept.size() == 3) {
                break;
            }
        }
        return String.join(", ", kept);
    }
}
