package io.turbidite.feeds;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;

/** What differs between two definitions. Static, without state. */
public final class DefinitionChange {
    private DefinitionChange() {}

    /**
     * The keys whose values differ, each with the keys above it, sorted. A key that only one of
     * the two has differs too, be its value the default.
     *
     * @throws DefinitionException if one of them is not YAML
     */
    public static List<String> keys(String before, String after) {
        Map<String, String> old = new TreeMap<>();
        Map<String, String> now = new TreeMap<>();
        flatten("", YamlTree.read("the former definition", before), old);
        flatten("", YamlTree.read("the definition", after), now);
        TreeSet<String> keys = new TreeSet<>(old.keySet());
        keys.addAll(now.keySet());
        keys.removeIf(key -> Objects.equals(old.get(key), now.get(key)));
        return List.copyOf(keys);
    }

    private static void flatten(String path, YamlNode node, Map<String, String> into) {
        switch (node) {
            case YamlNode.Mapping mapping ->
                mapping.entries()
                        .forEach((key, entry) -> flatten(
                                path.isEmpty() ? key : path + "." + key, entry.value(), into));
            case YamlNode.Sequence sequence -> {
                for (int i = 0; i < sequence.items().size(); i++) {
                    flatten(path + "[" + i + "]", sequence.items().get(i), into);
                }
            }
            case YamlNode.Scalar scalar -> into.put(path, scalar.kind() + " " + scalar.text());
        }
    }
}
