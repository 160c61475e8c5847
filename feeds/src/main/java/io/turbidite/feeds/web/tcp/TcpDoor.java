package io.turbidite.feeds.web.tcp;

import java.net.InetSocketAddress;

/**
 * A port at which one feed listens. <em>Immutable.</em>
 *
 * @param feed its name
 * @param at port 0 means any that is free
 * @param anybody whether who has no token may write too
 */
public record TcpDoor(String feed, InetSocketAddress at, boolean anybody) {}
