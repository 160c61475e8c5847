package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.ParcelSource;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.feeds.source.parcel.Ticket;

import org.jspecify.annotations.Nullable;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/**
 * Clients that always have more parcels on their way, up to some of each, and send again what they
 * got no receipt for. Producers number their records; the last client has no name.
 */
final class ParcelClients {
    static final int RECORDS = 120;
    private static final int ON_WAY_MAX = 6;

    private final int producers;
    private final String filling;
    private final SplittableRandom random;
    final List<Client> clients = new ArrayList<>();
    private @Nullable ParcelSource source;
    long acceptedCount;
    long droppedCount;

    /** Of each record by its ID whether a throttle took it when it came last. */
    final Map<Long, Boolean> decided = new HashMap<>();

    /** Sent, and not heard of. */
    private record OnWay(Ticket ticket, int from, int to) {}

    /** One client. */
    static final class Client {
        private final ArrayDeque<OnWay> onWay = new ArrayDeque<>();
        private int acknowledgedTo;
        private int sentTo;

        /** Records that were sent more than once, of a client that has no name. */
        int resentCount;

        /** Whether the last record of a parcel that waits is behind a record that was taken. */
        boolean isWithin(long number) {
            return onWay.stream().anyMatch(one -> one.from <= number && number < one.to);
        }
    }

    /** @param textBytes of each record, besides its number */
    ParcelClients(int producers, int textBytes, SplittableRandom random) {
        this.producers = producers;
        this.filling = "x".repeat(textBytes);
        this.random = random;
        for (int i = 0; i <= producers; i++) {
            clients.add(new Client());
        }
    }

    /** The same clients, at another time. */
    ParcelClients copy() {
        ParcelClients copy = new ParcelClients(producers, filling.length(), random.split());
        for (int i = 0; i < clients.size(); i++) {
            Client to = copy.clients.get(i);
            to.acknowledgedTo = clients.get(i).acknowledgedTo;
            to.sentTo = clients.get(i).sentTo;
            to.resentCount = clients.get(i).resentCount;
        }
        copy.decided.putAll(decided);
        return copy;
    }

    /** A run begins; nothing is on its way, and what was not acknowledged is sent again. */
    void begin(ParcelSource to) {
        source = to;
        for (Client client : clients) {
            client.onWay.clear();
            if (client.equals(clients.getLast())) {
                client.resentCount += client.sentTo - client.acknowledgedTo;
            }
            client.sentTo = client.acknowledgedTo;
        }
    }

    static long id(int client, int number) {
        return client * 1_000_000L + number;
    }

    /** Of producers: a delete, of a record that was there before them. */
    static boolean isDelete(int number) {
        return number % 23 == 5;
    }

    /** What that deletes. */
    static long doomedId(int client, int number) {
        return id(client, number) + 500_000;
    }

    int producers() {
        return producers;
    }

    static boolean isBad(int number) {
        return number % 29 == 7;
    }

    static int bad(int from, int to) {
        int bad = 0;
        for (int number = from; number <= to; number++) {
            bad += isBad(number) ? 1 : 0;
        }
        return bad;
    }

    private String text(int client, int number) {
        return isBad(number)
                ? "{\"id\":\"bad\"}\n"
                : "{\"id\":%d,\"name\":\"%s\"}\n".formatted(id(client, number), filling);
    }

    boolean areDone() {
        return clients.stream().allMatch(client -> client.acknowledgedTo == RECORDS);
    }

    /** Each client hears what there is to hear, and sends on. */
    boolean step(String as) {
        for (int i = 0; i < clients.size(); i++) {
            Client client = clients.get(i);
            hear(client, as);
            if (client.onWay.size() < ON_WAY_MAX
                    && client.sentTo < RECORDS
                    && random.nextInt(3) > 0) {
                send(i, client);
            }
        }
        return false;
    }

    private void send(int number, Client client) {
        boolean isPlain = number == producers;
        int repeats = isPlain ? 0 : random.nextInt(Math.min(20, client.sentTo + 1));
        int from = client.sentTo + 1 - repeats;
        int to = Math.min(RECORDS, client.sentTo + random.nextInt(1, 70));
        StringBuilder text = new StringBuilder();
        for (int at = from; at <= to; at++) {
            text.append(text(number, at));
        }
        Parcel parcel = Parcel.of(text.toString().getBytes(StandardCharsets.UTF_8));
        Ticket ticket = Objects.requireNonNull(source)
                .offer(isPlain ? parcel : parcel.from("t", "p" + number, from));
        if (!ticket.isSettled()) {
            client.onWay.add(new OnWay(ticket, from, to));
            client.sentTo = to;
        }
    }

    /** The receipts of what was on its way, in sequence. */
    void hear(Client client, String as) {
        boolean isPlain = client.equals(clients.getLast());
        while (!client.onWay.isEmpty() && client.onWay.element().ticket.isSettled()) {
            OnWay first = client.onWay.remove();
            switch (first.ticket.receipt()) {
                case Receipt.Taken taken -> {
                    assertThat(taken.accepted()
                                    + taken.rejected()
                                    + taken.dropped()
                                    + taken.repeated())
                            .as(as)
                            .isEqualTo(first.to - first.from + 1);
                    int newFrom = first.from + (int) taken.repeated();
                    if (taken.dropped() == 0 && (!isPlain || client.resentCount == 0)) {
                        assertThat(taken.rejected())
                                .as("%s: only the bad ones of %d to %d", as, newFrom, first.to)
                                .isEqualTo(bad(newFrom, first.to));
                    }
                    acceptedCount += taken.accepted();
                    droppedCount += taken.dropped();
                    client.acknowledgedTo = first.to;
                }
                case Receipt.Cut(long taken, String why) -> {
                    int count = first.to - first.from + 1;
                    assertThat(taken).as("%s: %s", as, why).isBetween(0L, (long) count);
                    if (!isPlain) {
                        client.acknowledgedTo =
                                Math.max(client.acknowledgedTo, first.from - 1 + (int) taken);
                    }
                    return; // and nothing behind it was taken whole
                }
                case Receipt other -> throw new AssertionError(as + ": " + other);
            }
        }
    }
}
