package io.turbidite.feeds.manage;

import org.jspecify.annotations.Nullable;

import java.util.Locale;

/**
 * What a feed is about, and what may follow. <em>Immutable.</em>
 *
 * <p>The picture in {@code docs/feeds.md} shows every transition.
 */
public enum FeedState {
    /** It opens its source and finds where it stopped. */
    STARTING(0),
    /** It reads. */
    RUNNING(1),
    /** It has caught up with a source to which more may come, and takes what comes. */
    WAITING(2),
    /** Somebody paused it; it is so when the store is served again, too. */
    PAUSED(3),
    /** It failed of something that may pass, and tries again in a while. */
    RETRYING(4),
    /** It failed of something that another try does not mend. */
    FAILED(5),
    /** Its source is read to the end, or somebody stopped it. */
    ENDED(6);

    /** What the gauge {@code feed.state} shows; dashboards know it: no number is given anew. */
    final int figure;

    FeedState(int figure) {
        this.figure = figure;
    }

    /** What moves a feed from one state to another. */
    enum Cue {
        /** Its source is open. */
        OPENED,
        /** There is nothing to read for now. */
        RESTED,
        /** There is much to read again. */
        READ,
        /** The source has ended. */
        FINISHED,
        /** It failed of something that may pass. */
        TROUBLE,
        /** It failed for good. */
        FAILURE,
        /** Its time to try again has come. */
        DUE,
        PAUSE,
        RESUME,
        STOP,
        /** It is to go on by another definition. */
        CHANGE
    }

    /** The state behind {@code cue}, or null if a feed in this state is deaf to it. */
    @Nullable
    FeedState after(Cue cue) {
        return switch (this) {
            case STARTING ->
                switch (cue) {
                    case OPENED -> RUNNING;
                    default -> ofActive(cue);
                };
            case RUNNING ->
                switch (cue) {
                    case RESTED -> WAITING;
                    case FINISHED -> ENDED;
                    default -> ofActive(cue);
                };
            case WAITING ->
                switch (cue) {
                    case READ -> RUNNING;
                    case FINISHED -> ENDED;
                    default -> ofActive(cue);
                };
            case PAUSED ->
                switch (cue) {
                    case RESUME -> STARTING;
                    case STOP -> ENDED;
                    default -> null;
                };
            case RETRYING ->
                switch (cue) {
                    case DUE, RESUME, CHANGE -> STARTING;
                    case PAUSE -> PAUSED;
                    case STOP -> ENDED;
                    default -> null;
                };
            case FAILED ->
                switch (cue) {
                    case RESUME, CHANGE -> STARTING;
                    case PAUSE -> PAUSED;
                    case STOP -> ENDED;
                    default -> null;
                };
            case ENDED ->
                switch (cue) {
                    case RESUME -> STARTING;
                    default -> null;
                };
        };
    }

    private static @Nullable FeedState ofActive(Cue cue) {
        return switch (cue) {
            case PAUSE -> PAUSED;
            case STOP -> ENDED;
            case TROUBLE -> RETRYING;
            case FAILURE -> FAILED;
            case CHANGE -> STARTING;
            default -> null;
        };
    }

    /** Whether it has its source open, or is about to. */
    public boolean isActive() {
        return switch (this) {
            case STARTING, RUNNING, WAITING -> true;
            case PAUSED, RETRYING, FAILED, ENDED -> false;
        };
    }

    /**
     * Why a feed takes no records that are sent, in words for the sender.
     *
     * @param closing for good
     * @param feedsLetters whether it feeds its dead letters again
     * @param cause of the last failure
     */
    String whyAway(String feed, boolean closing, boolean feedsLetters, @Nullable String cause) {
        if (closing) {
            return "feed %s is being closed".formatted(feed);
        }
        if (feedsLetters && isActive()) {
            return "feed %s feeds its dead letters again".formatted(feed);
        }
        return switch (this) {
            // the run has ended, or has not begun; what it comes to is not told yet
            case RUNNING, WAITING ->
                "feed %s is about to stop, or to start again: send it again in a second"
                        .formatted(feed);
            case STARTING -> "feed %s is starting".formatted(feed);
            case PAUSED, RETRYING, FAILED, ENDED ->
                "feed %s is %s%s".formatted(feed, label(), cause == null ? "" : ": " + cause);
        };
    }

    /** The word for people and machines. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
