package io.turbidite.feeds.manage;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.DefinitionChange;
import io.turbidite.feeds.DefinitionException;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedDefinition.Mode;
import io.turbidite.feeds.FeedDefinition.PolicyPart;
import io.turbidite.feeds.FeedReport;
import io.turbidite.feeds.flow.FeedMeters;
import io.turbidite.feeds.flow.SpillPlace;
import io.turbidite.feeds.manage.FeedState.Cue;
import io.turbidite.feeds.manage.KeptDefinition.Wanted;
import io.turbidite.feeds.manage.ManagedFeed.Shared;
import io.turbidite.feeds.source.parcel.HttpKind;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.feeds.source.parcel.TcpKind;
import io.turbidite.feeds.source.parcel.Ticket;
import io.turbidite.feeds.source.stdin.StdinKind;
import io.turbidite.feeds.source.tail.TailKind;
import io.turbidite.lsm.Store;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.random.RandomGenerator;

/**
 * Runs any number of feeds on one open store, each by itself. Their definitions are kept in the
 * store; {@link #startKept} starts those of earlier processes.
 *
 * <pre>{@code
 * try (Store store = Store.open(directory);
 *         FeedManager feeds = FeedManager.open(store)) {
 *     feeds.startKept();
 *     feeds.start(yaml, directoryOfYaml);
 *     ...
 * }
 * }</pre>
 *
 * <p>Each change of a feed's state is a {@link io.turbidite.core.meter.StoreEvent.FeedChanged} of
 * the store's events. One manager at a time for a store. <em>Thread-safe.</em>
 */
public final class FeedManager implements AutoCloseable {
    /** The kinds of sources to which clients send. */
    private static final Set<String> SENT = Set.of(HttpKind.NAME, TcpKind.NAME);

    private final Store store;
    private final Shared shared;

    /** Of all that changes which feeds there are, one after the other. */
    private final Semaphore turn = new Semaphore(1);

    // guarded by itself
    private final TreeMap<String, ManagedFeed> feeds = new TreeMap<>();
    private volatile boolean closed;

    private FeedManager(Store store, RandomGenerator jitter) {
        this.store = store;
        this.shared = new Shared(store, jitter, new Semaphore(1));
    }

    /** A manager without feeds; changes nothing in the store. To be closed before the store. */
    public static FeedManager open(Store store) {
        return open(store, new SplittableRandom(store.environment().clock().monotonicNanos()));
    }

    /**
     * As {@link #open(Store)}.
     *
     * @param jitter by which feeds that failed together don't try again together
     */
    public static FeedManager open(Store store, RandomGenerator jitter) {
        return new FeedManager(store, jitter);
    }

    /**
     * Reads a definition as {@link #start} would, without a store.
     *
     * @param yaml the definition's text
     * @param directory to which paths in it are relative
     * @return the name of its feed
     * @throws DefinitionException with every problem found; that it does not fit a store is none
     */
    public static String check(String yaml, Path directory) {
        return read(yaml, directory).kept().feed();
    }

    /**
     * Keeps a definition in the store and starts its feed.
     *
     * @param yaml the definition's text; JSON is YAML too
     * @param directory to which paths in it are relative
     * @return the feed, starting
     * @throws DefinitionException if the definition is wrong or does not fit the store; nothing was
     *     made
     * @throws InvalidRequestException if there is a feed of its name
     */
    public FeedStatus start(String yaml, Path directory) {
        return inTurn(() -> {
            Defined defined = read(yaml, directory);
            String name = defined.kept().feed();
            ManagedFeed there = find(name);
            if (there != null) {
                throw new InvalidRequestException(
                        "there is a feed %s, which is %s: let it go on by this definition with --change, resume or drop it, or give this one another name"
                                .formatted(name, there.status().state().label()));
            }
            Feed.check(defined.read(), store);
            defined.kept().keep(store);
            return add(defined).status();
        });
    }

    /**
     * Has a feed go on by another definition, from the end of a batch on. What may change: all but
     * {@code source}, {@code parser} and the dataset's name; what else differs of {@code dataset}
     * must fit the dataset. A feed that is paused or has ended stays so.
     *
     * @param yaml the new definition's text; its {@code feed} says which one it is
     * @throws DefinitionException naming each key that may not change, or is wrong; the feed goes
     *     on as before
     * @throws InvalidRequestException if there is no feed of its name
     */
    public FeedStatus change(String yaml, Path directory) {
        return inTurn(() -> change(read(yaml, directory)));
    }

    /** {@link #change} if there is a feed of that name, else {@link #start}. */
    public FeedStatus startOrChange(String yaml, Path directory) {
        return inTurn(() -> {
            Defined defined = read(yaml, directory);
            if (find(defined.kept().feed()) != null) {
                return change(defined);
            }
            Feed.check(defined.read(), store);
            defined.kept().keep(store);
            return add(defined).status();
        });
    }

    /**
     * Makes the checks of {@link #startOrChange}, and nothing else.
     *
     * @throws DefinitionException as that does
     */
    public void checkStart(String yaml, Path directory) {
        var _ = inTurn(() -> {
            Defined defined = read(yaml, directory);
            ManagedFeed there = find(defined.kept().feed());
            if (there == null) {
                Feed.check(defined.read(), store);
            } else if (!isSame(there.defined().kept(), defined.kept())) {
                var _ = checkedChange(there, defined);
            }
            return true;
        });
    }

    private static boolean isSame(KeptDefinition one, KeptDefinition other) {
        return one.text().equals(other.text()) && one.directory().equals(other.directory());
    }

    private FeedStatus change(Defined to) {
        ManagedFeed feed = require(to.kept().feed());
        KeptDefinition before = feed.defined().kept();
        if (isSame(before, to.kept())) {
            return feed.status();
        }
        FeedDefinition definition = checkedChange(feed, to);
        Defined changed = new Defined(to.kept().with(before.wanted()), definition);
        changed.kept().keep(store);
        feed.change(changed);
        return feed.status();
    }

    private FeedDefinition checkedChange(ManagedFeed feed, Defined to) {
        KeptDefinition before = feed.defined().kept();
        FeedDefinition definition = to.read();
        List<DefinitionException.Problem> refused = new ArrayList<>();
        for (String key : DefinitionChange.keys(before.text(), to.kept().text())) {
            if (!mayChange(key)) {
                refused.add(new DefinitionException.Problem(
                        definition.origin().file(),
                        definition.origin().line(key),
                        key,
                        "can't change in a feed that there is: give this one another name,"
                                + " and drop the other"));
            }
        }
        if (!refused.isEmpty()) {
            throw new DefinitionException(refused);
        }
        checkSpill(feed, definition);
        Feed.check(definition, store);
        return definition;
    }

    /** What waits in files is records, or keys to be deleted; a feed of the other mode can't. */
    private void checkSpill(ManagedFeed feed, FeedDefinition to) {
        FeedDefinition before = feed.defined().definition();
        if (before == null || (before.mode() == Mode.DELETE) == (to.mode() == Mode.DELETE)) {
            return;
        }
        boolean spillsOn = before.policy() instanceof PolicyPart.Spill
                && !before.source().kind().equals(TailKind.NAME) // which is read again
                && feed.state().isActive();
        if (spillsOn || SpillPlace.hasBatches(store.environment().disk(), to.feed())) {
            throw new DefinitionException(
                    List.of(
                            new DefinitionException.Problem(
                                    to.origin().file(),
                                    to.origin().line("mode"),
                                    "mode",
                                    "can't change to delete, or from it, while records of the feed wait in files, or may: give it policy basic, resume it if it does not run, and change the mode when ./turbidite feed status tells of none that are spilled")));
        }
    }

    private static boolean mayChange(String key) {
        if (key.startsWith("parser.schemas.")) {
            return true; // one that messages name is missing, or was given a wrong file
        }
        return !key.equals("dataset.name")
                && !key.startsWith("source.")
                && !key.startsWith("parser.");
    }

    /**
     * Starts the feeds whose definitions are kept in the store and that are not started yet: those
     * that were paused or stopped are so again. One whose definition is wrong by now is failed, and
     * says why.
     *
     * @return all feeds
     */
    public List<FeedStatus> startKept() {
        return inTurn(() -> {
            for (KeptDefinition kept : KeptDefinition.all(store)) {
                if (find(kept.feed()) == null) {
                    var _ = add(kept(kept));
                }
            }
            return list();
        });
    }

    private static Defined kept(KeptDefinition kept) {
        try {
            return new Defined(kept, new Defined(kept, null).read());
        } catch (InvalidRequestException wrong) {
            return new Defined(kept, null); // its start says so
        }
    }

    /** All feeds by name. */
    public List<FeedStatus> list() {
        synchronized (feeds) {
            return feeds.values().stream().map(ManagedFeed::status).toList();
        }
    }

    /**
     * A feed.
     *
     * @throws InvalidRequestException if there is none of that name
     */
    public FeedStatus status(String name) {
        return require(name).status();
    }

    /**
     * Ends the feed's run at a batch, until it is resumed; it stays paused when the store is served
     * again. Waits until the run has ended.
     *
     * @throws InvalidRequestException if there is none of that name, or it has ended
     */
    public FeedStatus pause(String name) {
        return ask(name, Cue.PAUSE, Wanted.PAUSE);
    }

    /**
     * Starts a feed again that is paused, has failed, ended or was stopped; one that would try
     * again later does so now.
     *
     * @throws InvalidRequestException if there is none of that name, or it runs
     */
    public FeedStatus resume(String name) {
        return ask(name, Cue.RESUME, Wanted.RUN);
    }

    /**
     * Ends the feed at a batch. Its definition stays, but nothing starts it again but {@link
     * #resume}. Waits until the run has ended.
     *
     * @throws InvalidRequestException if there is none of that name, or it has ended
     */
    public FeedStatus stop(String name) {
        return ask(name, Cue.STOP, Wanted.STOP);
    }

    private FeedStatus ask(String name, Cue cue, Wanted wanted) {
        return inTurn(() -> {
            ManagedFeed feed = require(name);
            feed.check(cue);
            KeptDefinition kept = feed.defined().kept().with(wanted);
            kept.keep(store);
            feed.setKept(kept);
            feed.ask(cue);
            return feed.status();
        });
    }

    /**
     * Ends a feed at a batch and forgets its definition. Its records, its dead letters and how far
     * it is stay: a feed of its name goes on from there.
     *
     * @return how it was
     * @throws InvalidRequestException if there is none of that name
     */
    public FeedStatus drop(String name) {
        return inTurn(() -> {
            ManagedFeed feed = require(name);
            KeptDefinition.forget(store, name);
            feed.closeSoon();
            feed.awaitClosed();
            synchronized (feeds) {
                feeds.remove(name);
            }
            FeedMeters.remove(store.meters(), name);
            feed.tellDropped();
            return feed.status();
        });
    }

    /**
     * The dead letters of a feed, the oldest first, those of runs by {@code ./turbidite run} too.
     *
     * @param from where to begin: 0, or {@link FeedLetters#next} of an earlier call
     * @param limit how many at most, from 1
     * @throws InvalidRequestException if there is no feed of that name, or {@code from} is no place
     *     where a letter begins
     */
    public FeedLetters letters(String name, long from, int limit) {
        return FeedLetters.read(store, require(name).name(), from, limit);
    }

    /**
     * A feed's definition.
     *
     * @return null if it was right once, and is no more
     * @throws InvalidRequestException if there is no feed of that name
     */
    public @Nullable FeedDefinition definition(String name) {
        return require(name).defined().definition();
    }

    /** The names of the feeds whose source is of this kind, in order. */
    public List<String> ofKind(String kind) {
        return all().stream()
                .map(feed -> feed.defined().definition())
                .filter(one -> one != null && one.source().kind().equals(kind))
                .map(FeedDefinition::feed)
                .toList();
    }

    /**
     * Hands records to a feed whose source takes them so ({@code http}, {@code tcp}), without
     * waiting.
     *
     * @return settled at once if nothing is taken now
     * @throws InvalidRequestException if there is no feed of that name, or it has another source
     */
    public Ticket offer(String name, Parcel parcel) {
        return sending(name).offer(parcel, null);
    }

    /**
     * As {@link #offer(String, Parcel)}.
     *
     * @param whenSettled is run once there is a receipt, unless that is so at once; by any thread,
     *     which it must not keep
     */
    public Ticket offer(String name, Parcel parcel, Runnable whenSettled) {
        return sending(name).offer(parcel, whenSettled);
    }

    /**
     * The number of the last record of a producer that is durable for sure: it may be told late,
     * but is never too great.
     *
     * @return -1 if the feed does not read now
     * @throws InvalidRequestException if there is no feed of that name, or it has another source
     */
    public long durableTo(String name, String owner, String producer) {
        return sending(name).durableTo(owner, producer);
    }

    /**
     * As {@link #offer}, and waits until all of it is durable, or can't be taken. A feed that is
     * starting is waited for.
     *
     * @param waitMicros for so long at most
     */
    public Receipt send(String name, Parcel parcel, long waitMicros) {
        ManagedFeed feed = sending(name);
        Clock clock = shared.clock();
        long untilNanos = clock.monotonicNanos() + waitMicros * 1_000;
        BooleanSupplier isOver = () -> clock.monotonicNanos() - untilNanos >= 0;
        shared.tasks().await(() -> feed.state() != FeedState.STARTING || isOver.getAsBoolean());
        Ticket ticket = feed.offer(parcel, null);
        shared.tasks().await(() -> ticket.isSettled() || isOver.getAsBoolean());
        return ticket.giveUp("it was not durable within %d ms".formatted(waitMicros / 1_000));
    }

    private ManagedFeed sending(String name) {
        ManagedFeed feed = require(name);
        FeedDefinition definition = feed.defined().definition();
        if (definition != null && !SENT.contains(definition.source().kind())) {
            throw new InvalidRequestException(
                    "feed %s has the source %s, and takes no records that are sent"
                            .formatted(name, definition.source().kind()));
        }
        return feed;
    }

    /**
     * Feeds the dead letters of a feed again, each once: those that its definition takes by now are
     * accepted, and the others are dead letters again, behind the others. A feed that runs goes on
     * afterwards. A letter that is fed again comes after what was fed meanwhile: by {@code upsert}
     * it takes the place of a newer record of its key.
     *
     * @return what it came to
     * @throws InvalidRequestException if there is no feed of that name
     */
    public FeedReport retryLetters(String name) {
        return inTurn(() -> require(name).retryLetters());
    }

    /** Ends every feed at a batch, and waits for it: what was accepted is committed. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        all().forEach(ManagedFeed::closeSoon); // a change that is under way waits for one of them
        shared.tasks().await(turn::tryAcquire);
        List<ManagedFeed> all = all();
        all.forEach(ManagedFeed::closeSoon);
        all.forEach(ManagedFeed::awaitClosed);
    }

    private List<ManagedFeed> all() {
        synchronized (feeds) {
            return List.copyOf(feeds.values());
        }
    }

    private static Defined read(String yaml, Path directory) {
        Path absolute = directory.toAbsolutePath().normalize();
        FeedDefinition definition = FeedDefinition.parse("definition", absolute, yaml);
        if (definition.source().kind().equals(StdinKind.NAME)) {
            throw new DefinitionException(
                    List.of(
                            new DefinitionException.Problem(
                                    definition.origin().file(),
                                    definition.origin().line("source.kind"),
                                    "source.kind",
                                    "stdin is read by ./turbidite run alone: many feeds have no standard input to share, and none when the store is served again")));
        }
        return new Defined(
                new KeptDefinition(definition.feed(), yaml, absolute.toString(), Wanted.RUN),
                definition);
    }

    private ManagedFeed add(Defined defined) {
        ManagedFeed feed = ManagedFeed.start(shared, defined);
        synchronized (feeds) {
            feeds.put(defined.kept().feed(), feed);
        }
        return feed;
    }

    private @Nullable ManagedFeed find(String name) {
        synchronized (feeds) {
            return feeds.get(name);
        }
    }

    private ManagedFeed require(String name) {
        synchronized (feeds) {
            ManagedFeed feed = feeds.get(name);
            if (feed == null) {
                // without the others: clients read it that may not know of them
                throw new InvalidRequestException("there is no feed '%s'".formatted(name));
            }
            return feed;
        }
    }

    private interface Change<T> {
        T make();
    }

    private <T> T inTurn(Change<T> change) {
        boolean[] isMine = {false};
        shared.tasks().await(() -> {
            isMine[0] = turn.tryAcquire();
            return isMine[0] || closed;
        });
        if (!isMine[0]) {
            throw new ClosedException("the manager of feeds");
        }
        try {
            if (closed) {
                throw new ClosedException("the manager of feeds");
            }
            return change.make();
        } finally {
            turn.release();
            shared.tasks().signal();
        }
    }
}
