package io.turbidite.feeds.manage;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.manage.FeedState.Cue;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Every transition of a feed, and that no other one is there. */
class FeedStateTest {
    static final Set<String> TRANSITIONS = Set.of(
            "starting OPENED running",
            "starting PAUSE paused",
            "starting STOP ended",
            "starting CHANGE starting",
            "starting TROUBLE retrying",
            "starting FAILURE failed",
            "running RESTED waiting",
            "running FINISHED ended",
            "running PAUSE paused",
            "running STOP ended",
            "running CHANGE starting",
            "running TROUBLE retrying",
            "running FAILURE failed",
            "waiting READ running",
            "waiting FINISHED ended",
            "waiting PAUSE paused",
            "waiting STOP ended",
            "waiting CHANGE starting",
            "waiting TROUBLE retrying",
            "waiting FAILURE failed",
            "paused RESUME starting",
            "paused STOP ended",
            "retrying DUE starting",
            "retrying RESUME starting",
            "retrying CHANGE starting",
            "retrying PAUSE paused",
            "retrying STOP ended",
            "failed RESUME starting",
            "failed CHANGE starting",
            "failed PAUSE paused",
            "failed STOP ended",
            "ended RESUME starting");

    private static Set<String> transitions() {
        Set<String> there = new TreeSet<>();
        for (FeedState state : FeedState.values()) {
            for (Cue cue : Cue.values()) {
                FeedState after = state.after(cue);
                if (after != null) {
                    there.add(state.label() + " " + cue + " " + after.label());
                }
            }
        }
        return there;
    }

    @Test
    void everyTransitionIsListed() {
        assertThat(transitions()).isEqualTo(new TreeSet<>(TRANSITIONS));
    }

    /** Arrows have a class for each pair of states; "active" is all of those with a source open. */
    @Test
    void theDrawingShowsThemAll() throws IOException {
        Path root = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());
        String drawing = Files.readString(root.resolve("docs/images/feed-states.svg"));
        Set<String> drawn = new TreeSet<>();
        Matcher arrow = Pattern.compile("<path class=\"([a-z]+)-([a-z]+)\"").matcher(drawing);
        while (arrow.find()) {
            for (FeedState state : FeedState.values()) {
                if (state.label().equals(arrow.group(1))
                        || (state.isActive() && arrow.group(1).equals("active"))) {
                    drawn.add(state.label() + " " + arrow.group(2));
                }
            }
        }
        Set<String> pairs = new TreeSet<>();
        for (String transition : transitions()) {
            String[] words = transition.split(" ", -1);
            if (!words[1].equals(Cue.CHANGE.name())) { // it begins anew from everywhere
                pairs.add(words[0] + " " + words[2]);
            }
        }
        assertThat(drawn).isEqualTo(pairs);
    }

    /** The bug: "feed f is running" was why a feed took nothing, between two of its states. */
    @Test
    void noSenderIsRefusedBecauseTheFeedRuns() {
        for (FeedState state : FeedState.values()) {
            String why = state.whyAway("f", false, false, state.isActive() ? null : "no space");
            assertThat(why)
                    .doesNotContain("is running", "is waiting")
                    .contains(
                            switch (state) {
                                case STARTING -> "is starting";
                                case RUNNING, WAITING -> "send it again";
                                case PAUSED, RETRYING, FAILED, ENDED ->
                                    "is " + state.label() + ": no space";
                            });
            assertThat(state.whyAway("f", true, false, null)).isEqualTo("feed f is being closed");
        }
    }

    @Test
    void waitsGrowFromOneSecondToSixtyAndDiffer() {
        SplittableRandom random = new SplittableRandom(7);
        Set<Long> late = new TreeSet<>();
        for (int failures = 1; failures <= 100; failures++) {
            for (int round = 0; round < 20; round++) {
                long micros = BackOff.micros(failures, random);
                long most = Math.min(60_000_000L, 1_000_000L << Math.min(failures - 1, 6));
                assertThat(micros).isBetween(Math.max(1_000_000L, most / 2), most);
                if (failures > 7) {
                    late.add(micros);
                }
            }
        }
        assertThat(late).hasSizeGreaterThan(1_000);
    }
}
