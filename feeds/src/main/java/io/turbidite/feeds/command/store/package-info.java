/** The contents of a store: {@code inspect}, {@code advise}, {@code index} and {@code drop}. */
@NullMarked
package io.turbidite.feeds.command.store;

import org.jspecify.annotations.NullMarked;
