package io.turbidite.core.catalog;

import java.util.List;

/**
 * One key of a feed's definition with its value. <em>Immutable.</em>
 *
 * @param path the key with those above it: {@code dataset}, {@code name}; one at least
 * @param value as it was written, a text without its quotes
 * @param isText whether it was a text in quotes. One that begins with <code>{</code>, {@code [} or
 *     {@code "} is read as YAML all the same: a mapping, a list, a text
 */
public record FeedOption(List<String> path, String value, boolean isText) {
    public FeedOption {
        path = List.copyOf(path);
    }
}
