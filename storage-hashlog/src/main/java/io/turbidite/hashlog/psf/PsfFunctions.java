package io.turbidite.hashlog.psf;

import io.turbidite.core.InvalidRequestException;

import java.util.Map;

/**
 * The user's functions by name: a definition is kept by name in the registry, so that whoever opens
 * the log hands the functions in again. <em>Immutable.</em>
 */
public record PsfFunctions(Map<String, PsfFunction> byName) {
    /** No functions. */
    public static final PsfFunctions NONE = new PsfFunctions(Map.of());

    public PsfFunctions {
        byName = Map.copyOf(byName);
    }

    /**
     * The function of this name.
     *
     * @throws InvalidRequestException if there is none
     */
    PsfFunction named(String name) {
        PsfFunction function = byName.get(name);
        if (function == null) {
            throw new InvalidRequestException(
                    "no function is registered as '%s'; known are %s: hand it in when opening the log"
                            .formatted(name, byName.keySet()));
        }
        return function;
    }
}
