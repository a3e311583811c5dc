-- AlterTable
ALTER TABLE "Run" ADD COLUMN     "edition" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "Part" (
    "run" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "at" BIGINT NOT NULL,
    "body" BYTEA NOT NULL,

    CONSTRAINT "Part_pkey" PRIMARY KEY ("run","name")
);

-- CreateTable
CREATE TABLE "Share" (
    "id" TEXT NOT NULL,
    "secret" BYTEA NOT NULL,
    "runId" TEXT NOT NULL,
    "createdBy" TEXT NOT NULL,
    "createdAt" BIGINT NOT NULL,
    "expiresAt" BIGINT NOT NULL,
    "revokedAt" BIGINT,
    "revokedBy" TEXT,

    CONSTRAINT "Share_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "Audit" (
    "key" SERIAL NOT NULL,
    "at" BIGINT NOT NULL,
    "actor" TEXT NOT NULL,
    "action" TEXT NOT NULL,
    "runId" TEXT NOT NULL DEFAULT '',
    "seq" INTEGER NOT NULL DEFAULT 0,
    "search" TEXT NOT NULL DEFAULT '',
    "record" TEXT NOT NULL,

    CONSTRAINT "Audit_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE UNIQUE INDEX "Share_secret_key" ON "Share"("secret");

-- CreateIndex
CREATE INDEX "Share_runId_idx" ON "Share"("runId");

-- CreateIndex
CREATE INDEX "Audit_at_idx" ON "Audit"("at");

-- CreateIndex
CREATE INDEX "Audit_runId_seq_idx" ON "Audit"("runId", "seq");
