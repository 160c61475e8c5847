package io.turbidite.ops.sql;

import io.turbidite.core.NearestName;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.scan.Source;

import java.util.List;
import java.util.function.Function;

/** Finds the datasets that statements name. Static. */
final class Targets {
    private Targets() {}

    /**
     * A dataset by its name.
     *
     * @param wrong makes the error of a message
     */
    static Source find(
            Catalog catalog, String name, Function<String, ? extends SqlException> wrong) {
        List<String> names = catalog.datasets().stream().map(Source::name).toList();
        for (Source source : catalog.datasets()) {
            if (source.name().equals(name)) {
                return source;
            }
        }
        throw wrong.apply(
                "there is no dataset '%s'%s".formatted(name, NearestName.hint(name, names)));
    }
}
