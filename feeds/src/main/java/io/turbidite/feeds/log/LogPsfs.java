package io.turbidite.feeds.log;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.HashLog;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.registry.RegisteredPsf;

import org.jspecify.annotations.Nullable;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** PSFs by name, as somebody wants them of a log. <em>Immutable.</em> */
public final class LogPsfs {
    private final Map<String, PsfDefinition> byName;

    private LogPsfs(Map<String, PsfDefinition> byName) {
        this.byName = byName;
    }

    /**
     * Reads definitions.
     *
     * @throws InvalidRequestException naming the PSF whose definition is wrong
     */
    public static LogPsfs parse(Map<String, String> definitions) {
        Map<String, PsfDefinition> parsed = new LinkedHashMap<>();
        definitions.forEach((name, text) -> {
            try {
                parsed.put(name, PsfDefinition.parse(text));
            } catch (InvalidRequestException e) {
                throw new InvalidRequestException(
                        "PSF '%s': %s".formatted(name, e.getMessage()), e);
            }
        });
        return new LogPsfs(parsed);
    }

    /** The definitions, in the order they were given. */
    public Map<String, PsfDefinition> byName() {
        return Collections.unmodifiableMap(byName);
    }

    /** The active PSF of this name, or null. */
    public static @Nullable RegisteredPsf active(HashLog log, String name) {
        return log.psfs().stream()
                .filter(psf -> psf.active() && psf.name().equals(name))
                .findFirst()
                .orElse(null);
    }

    /**
     * The definition of the active PSF of this name, else of the last one that had it; null if none
     * had.
     */
    public static @Nullable PsfDefinition newest(HashLog log, String name) {
        RegisteredPsf active = active(log, name);
        if (active != null) {
            return active.definition();
        }
        return log.psfs().reversed().stream()
                .filter(psf -> psf.name().equals(name))
                .findFirst()
                .map(RegisteredPsf::definition)
                .orElse(null);
    }

    /**
     * Registers those that the log does not have.
     *
     * @throws InvalidRequestException if the log has another definition under a name; nothing was
     *     registered
     */
    public void registerMissing(HashLog log) {
        registerMissing(log, 1);
    }

    /**
     * The same.
     *
     * @param chainCount chains that each property of those is spread over
     */
    public void registerMissing(HashLog log, int chainCount) {
        byName.forEach((name, definition) -> {
            RegisteredPsf there = active(log, name);
            if (there != null && !there.definition().equals(definition)) {
                throw new InvalidRequestException(
                        "PSF '%s' is registered as %s, not as %s: take another name, or remove it first"
                                .formatted(name, there.definition().text(), definition.text()));
            }
        });
        Map<String, PsfDefinition> missing = new LinkedHashMap<>(byName);
        missing.keySet().removeIf(name -> active(log, name) != null);
        if (!missing.isEmpty()) {
            log.registerAll(missing, chainCount);
        }
    }
}
