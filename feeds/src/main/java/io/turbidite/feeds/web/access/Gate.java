package io.turbidite.feeds.web.access;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.ShellWord;
import io.turbidite.feeds.web.http.Doorkeeper;
import io.turbidite.feeds.web.http.Problem;
import io.turbidite.feeds.web.http.Right;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Lets callers in by their tokens. <em>Immutable.</em> */
public final class Gate implements Doorkeeper {
    /** Each request is compared with all. */
    private static final int TOKEN_COUNT_MAX = 256;

    /** The name of callers without a token. */
    static final String ANYBODY = "anybody";

    private static final int TOKEN_CHARS_MAX = 256;
    private static final String SCHEME = "Bearer ";

    private final List<Token> tokens;
    private final Caller anybody;

    private Gate(List<Token> tokens, boolean anybodyReads) {
        if (tokens.size() > TOKEN_COUNT_MAX) {
            throw new InvalidRequestException(
                    "there are more than %d tokens".formatted(TOKEN_COUNT_MAX));
        }
        this.tokens = List.copyOf(tokens);
        this.anybody = new Anybody(anybodyReads);
    }

    /** Everybody may read, and nobody more. */
    public static Gate withoutTokens() {
        return new Gate(List.of(), true);
    }

    /**
     * Whoever has a token may what it says.
     *
     * @param anybodyReads those may read who have none
     */
    public static Gate of(List<Token> tokens, boolean anybodyReads) {
        return new Gate(tokens, anybodyReads);
    }

    /**
     * Reads a file of tokens: a JSON object a line.
     *
     * @throws InvalidRequestException naming the line that is wrong
     */
    public static List<Token> read(Path file) {
        List<Token> tokens = new ArrayList<>();
        try {
            int number = 0;
            for (String line : Files.readAllLines(file)) {
                number++;
                if (line.isBlank()) {
                    continue;
                }
                try {
                    tokens.add(Token.ofLine(line));
                } catch (InvalidRequestException wrong) {
                    throw new InvalidRequestException(
                            "%s, line %d: %s".formatted(file, number, wrong.getMessage()), wrong);
                }
            }
        } catch (NoSuchFileException e) {
            throw new InvalidRequestException(
                    "%s: no such file; ./turbidite token %s NAME makes it"
                            .formatted(file, ShellWord.of(file.toString())),
                    e);
        } catch (IOException e) {
            throw new InvalidRequestException("%s can't be read".formatted(file), e);
        }
        return tokens;
    }

    @Override
    public Caller admit(@Nullable String authorization) {
        if (authorization == null) {
            return anybody;
        }
        if (authorization.length() > TOKEN_CHARS_MAX
                || !authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())) {
            throw Problem.of(401, "the header Authorization is not 'Bearer' and a token");
        }
        String text = authorization.substring(SCHEME.length()).strip();
        Caller found = null;
        for (Token token : tokens) { // all of them: the time says nothing of which one fits
            if (token.is(text)) {
                found = token;
            }
        }
        if (found == null) {
            throw Problem.of(401, "the token is none of this server's");
        }
        return found;
    }

    /** Any user of the machine can connect: without a token they may read at most. */
    private record Anybody(boolean reads) implements Caller {
        @Override
        public String name() {
            return ANYBODY;
        }

        @Override
        public boolean may(Right right, String kind, String name) {
            return right == Right.NONE || (reads && right == Right.READ);
        }

        @Override
        public boolean isAnonymous() {
            return true;
        }
    }
}
