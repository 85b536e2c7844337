"""Whether an answer's figures stand on the cited pages, with what they are said to be; writes nothing."""
