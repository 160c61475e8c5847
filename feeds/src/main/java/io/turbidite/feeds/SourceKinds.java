package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.source.SourceKind;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** The kinds of sources that there are, those of this module and those of others. */
final class SourceKinds {
    static final String FILE = "file";

    private SourceKinds() {}

    /** Their names, sorted. */
    static List<String> names() {
        List<String> names = new ArrayList<>();
        for (SourceKind kind : ServiceLoader.load(SourceKind.class, loader())) {
            names.add(kind.name());
        }
        return names.stream().sorted().distinct().toList();
    }

    /** Null if there is none of that name. */
    static @Nullable SourceKind find(String name) {
        for (SourceKind kind : ServiceLoader.load(SourceKind.class, loader())) {
            if (kind.name().equals(name)) {
                return kind;
            }
        }
        return null;
    }

    static SourceKind require(String name) {
        SourceKind kind = find(name);
        if (kind == null) {
            throw new InvalidRequestException("there is no kind of source '%s', but %s"
                    .formatted(name, String.join(", ", names())));
        }
        return kind;
    }

    /** That of this module: a thread's own may not see it. */
    private static ClassLoader loader() {
        return SourceKinds.class.getClassLoader();
    }
}
