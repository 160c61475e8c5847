package io.turbidite.feeds;

import io.turbidite.feeds.parse.RecordFunction;

import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeMap;

/** The functions that this process has for transforms. Static, without state. */
final class RecordFunctions {
    private RecordFunctions() {}

    /** New instances of all, by their names. */
    static Map<String, RecordFunction> load() {
        Map<String, RecordFunction> functions = new TreeMap<>();
        for (RecordFunction function :
                ServiceLoader.load(RecordFunction.class, RecordFunctions.class.getClassLoader())) {
            functions.putIfAbsent(function.name(), function);
        }
        return functions;
    }
}
