package io.turbidite.lsm.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.lsm.Inside;

import org.assertj.core.api.SoftAssertions;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Bad requests, each with what its message must say; and that none of them changes anything. */
public final class Refusals {
    private final Map<String, Refused> all = new LinkedHashMap<>();

    private record Refused(Runnable request, List<String> says) {}

    /**
     * Adds a request.
     *
     * @param says what its message says, all of it: what is wrong, where, and what would be right
     */
    public Refusals refuse(String what, Runnable request, String... says) {
        assertThat(all.put(what, new Refused(request, List.of(says)))).isNull();
        return this;
    }

    /** Makes all requests of a store. */
    public void check(SimStore sim) {
        String before = content(sim);
        SoftAssertions softly = new SoftAssertions();
        all.forEach((what, refused) -> {
            Throwable thrown = catchThrowable(refused.request::run);
            softly.assertThat(thrown)
                    .as(what)
                    .isInstanceOf(InvalidRequestException.class)
                    .message()
                    .contains(refused.says.toArray(String[]::new));
            softly.assertThat(content(sim)).as("what there is after: " + what).isEqualTo(before);
        });
        softly.assertAll();
        sim.verify();
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
    }

    /** Schemas, components and rows, and the manifest's bytes. */
    private static String content(SimStore sim) {
        return "%s %d %d"
                .formatted(
                        sim.store.describe().datasets(),
                        sim.contentHash(),
                        Arrays.hashCode(sim.disk.content("MANIFEST")));
    }
}
