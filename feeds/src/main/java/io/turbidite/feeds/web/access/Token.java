package io.turbidite.feeds.web.access;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.command.common.Json;
import io.turbidite.feeds.web.http.Doorkeeper;
import io.turbidite.feeds.web.http.Right;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * What is kept of a token: a salted hash, whose it is, and what they may. A token has 256 random
 * bits, so one round of SHA-256 does: nobody can try them all. <em>Immutable.</em>
 *
 * @param name whose it is; not {@code anybody}, whose producers are those of clients without one
 * @param salt in hexadecimal digits, as {@code hash}
 * @param stores of which they are let in; {@code *} is each
 * @param feeds likewise
 */
public record Token(
        String name,
        String salt,
        String hash,
        Set<Right> rights,
        List<String> stores,
        List<String> feeds)
        implements Doorkeeper.Caller {
    private static final String ANY = "*";
    private static final int SALT_BYTES = 16;
    private static final int TOKEN_BYTES = 32;
    private static final int HASH_BYTES = 32;

    public Token {
        if (name.equals(Gate.ANYBODY)) {
            throw new InvalidRequestException(
                    "'%s' is who has no token: give this one another name".formatted(name));
        }
        rights = Set.copyOf(rights);
        stores = List.copyOf(stores);
        feeds = List.copyOf(feeds);
        if (digits(salt).length == 0 || digits(hash).length != HASH_BYTES) {
            throw new InvalidRequestException("salt and hash of a token are hexadecimal digits");
        }
    }

    /** A new token: its text, which is shown once, and what is kept of it. */
    public record Made(String text, Token kept) {}

    /** Makes a token. */
    public static Made make(
            String name, Set<Right> rights, List<String> stores, List<String> feeds) {
        SecureRandom random = new SecureRandom();
        byte[] secret = new byte[TOKEN_BYTES];
        byte[] salt = new byte[SALT_BYTES];
        random.nextBytes(secret);
        random.nextBytes(salt);
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
        String digits = HexFormat.of().formatHex(salt);
        return new Made(
                text,
                new Token(
                        name,
                        digits,
                        HexFormat.of().formatHex(hash(salt, text)),
                        rights,
                        stores,
                        feeds));
    }

    /** Whether {@code text} is this token; takes the same time wherever it differs. */
    boolean is(String text) {
        return MessageDigest.isEqual(digits(hash), hash(digits(salt), text));
    }

    private static byte[] hash(byte[] salt, String text) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(salt);
            return digest.digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    private static byte[] digits(String text) {
        try {
            return HexFormat.of().parseHex(text);
        } catch (IllegalArgumentException e) {
            return new byte[0];
        }
    }

    /** The line of a file of tokens. */
    public String toLine() {
        return Json.text(Json.line()
                .put("name", name)
                .put("salt", salt)
                .put("hash", hash)
                .put(
                        "rights",
                        rights.stream()
                                .map(right -> right.name().toLowerCase(Locale.ROOT))
                                .sorted()
                                .toList())
                .put("stores", stores)
                .put("feeds", feeds)
                .toMap());
    }

    /**
     * Reads a line.
     *
     * @throws InvalidRequestException if it is none; the message does not show it
     */
    static Token ofLine(String line) {
        JsonNode node;
        try {
            node = new ObjectMapper().readTree(line);
        } catch (JsonProcessingException e) {
            throw new InvalidRequestException("a line of the tokens is no JSON object");
        }
        return new Token(
                node.path("name").asText(),
                node.path("salt").asText(),
                node.path("hash").asText(),
                rights(texts(node, "rights")),
                texts(node, "stores"),
                texts(node, "feeds"));
    }

    private static List<String> texts(JsonNode node, String key) {
        List<String> texts = new ArrayList<>();
        node.path(key).forEach(one -> texts.add(one.asText()));
        return texts;
    }

    /**
     * Rights by their words.
     *
     * @throws InvalidRequestException naming a word that is none
     */
    public static Set<Right> rights(List<String> words) {
        EnumSet<Right> rights = EnumSet.noneOf(Right.class);
        for (String word : words) {
            rights.add(
                    switch (word) {
                        case "read" -> Right.READ;
                        case "write" -> Right.WRITE;
                        case "manage" -> Right.MANAGE;
                        default ->
                            throw new InvalidRequestException(
                                    "'%s' is no right; rights are read, write, manage"
                                            .formatted(word));
                    });
        }
        return rights;
    }

    @Override
    public boolean may(Right right, String kind, String object) {
        if (right == Right.NONE) {
            return true;
        }
        if (!rights.contains(right)) {
            return false;
        }
        return switch (kind) {
            case "store" -> stores.contains(ANY) || stores.contains(object);
            case "feed" -> feeds.contains(ANY) || feeds.contains(object);
            default -> stores.contains(ANY); // of the server as a whole
        };
    }

    @Override
    public boolean isAnonymous() {
        return false;
    }

    /** Without salt and hash. */
    @Override
    public String toString() {
        return "token of " + name;
    }
}
